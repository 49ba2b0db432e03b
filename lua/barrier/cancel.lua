--- Cancels an OPEN barrier. Repeating it changes nothing.
--- @request write
--- @args barrierId
--- @reply barrier:barrier
--- @include lib/audit lib/call lib/caller lib/plan lib/refuse barrier/_barrier barrier/_cancel scope/_scope
local record = barrier.read(barrierId)
barrier.stop(record, scope.cancelFor(record))
if record.state == 'CANCELLED' then return call.answer({ barrier = record }) end
if record.state == 'RELEASED' then refuse('BARRIER_RELEASED') end
plan.needOperation()

cancelBarrier(record)
audit('barrier.cancelled', caller.actor(), barrierId, inSpace())
return call.answer({ barrier = record }, 'operation')
