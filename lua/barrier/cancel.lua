--- Cancels an OPEN barrier; repeating it changes nothing.
--- @args barrierId
--- @reply barrier:barrier
--- @include "lib/call"
--- @include "barrier/_cancel"
local replay = call.open()
if replay then return replay end
local record = barrier.read(barrierId)
barrier.stop(record, scope.cancelOf(scope.path(record.scopeId)))
if record.state == 'CANCELLED' then return call.unchanged({ barrier = record }) end
if record.state == 'RELEASED' then refuse('BARRIER_RELEASED') end
plan.needOperation()

cancelBarrier(record)
return call.done({ barrier = record })
