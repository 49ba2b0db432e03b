--- Cancels an OPEN barrier; again changes nothing.
--- @args barrierId
--- @include "lib/call"
--- @include "barrier/_barrier"
local replay = call.open()
if replay then return replay end
local record = barrier.read(barrierId)
if record.state == 'CANCELLED' then return call.unchanged(barrier.values(record)) end
if record.state == 'RELEASED' then refuse('BARRIER_RELEASED') end
plan.needOperation()

barrier.finish(record, 'CANCELLED')
barrier.tell(record, 'cancelled')
return call.done(barrier.values(record))
