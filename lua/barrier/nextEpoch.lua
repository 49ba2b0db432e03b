--- Reopens a RELEASED or CANCELLED barrier. UNLINK removes the arrivalKeys of the past epoch; its cost does not depend
--- on their number.
--- @request write
--- @args barrierId
--- @reply barrier:barrier
--- @include lib/call lib/finished lib/plan lib/records lib/refuse lib/unit barrier/_barrier scope/_scope
local record = barrier.read(barrierId)
scope.needRunning(scope.path(record.scopeId))
if record.state == 'OPEN' then refuse('BARRIER_NOT_RELEASED') end
plan.needOperation()

barrier.enter(record, 'OPEN')
records.set(record, 'epoch', record.epoch + 1)
records.set(record, 'arrivals', 0)
records.set(record, 'releasedAt', false)
unit.delete(keys.arrivalKeys(barrierId))
finished.remove('barrier:barrier', barrierId)
emit.barrier.epoch_advanced(barrierId, record)
return call.answer({ barrier = record }, 'operation')
