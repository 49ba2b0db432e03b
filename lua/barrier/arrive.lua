--- Records an arrival. The arrival that completes the target releases the barrier. An arrivalKey counts once per epoch.
--- epoch '': the current epoch.
--- @request write
--- @args barrierId arrivalKey epoch
--- @reply barrier:barrier
--- @gather
--- @include lib/call lib/clock lib/records lib/refuse lib/sets barrier/_barrier barrier/_cancel scope/_scope
local record = barrier.read(barrierId)
barrier.stop(record, scope.cancelFor(record))
-- A late retry from an earlier epoch must not replay an arrival in this epoch, even if the same key has arrived again.
if epoch ~= '' and tonumber(epoch) ~= record.epoch then refuse('EPOCH_MISMATCH', record.epoch) end
local key = keys.arrivalKeys(barrierId)
if sets.has(key, arrivalKey) then return call.answer({ barrier = record }, 'syscall') end
if record.state ~= 'OPEN' then refuse('BARRIER_' .. record.state) end

sets.add(key, arrivalKey)
records.set(record, 'arrivals', record.arrivals + 1)
emit.barrier.arrived(barrierId, record)
if record.arrivals == record.target then
  records.set(record, 'releasedAt', now)
  barrier.finish(record, 'RELEASED')
  emit.barrier.released(barrierId, record)
end
return call.answer({ barrier = record }, 'operation')
