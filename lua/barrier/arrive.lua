--- One arrival; the one that reaches the target releases. An arrivalKey counts once per epoch. epoch '': whichever it is.
--- @args barrierId arrivalKey epoch
--- @gather
--- @include "lib/call"
--- @include "lib/records"
--- @include "barrier/_barrier"
local replay = call.open()
if replay then return replay end
local record = barrier.read(barrierId)
-- A late repetition from an earlier epoch is no repetition of this epoch's arrival, even where the key has arrived.
if epoch ~= '' and epoch ~= record.epoch then refuse('EPOCH_MISMATCH', record.epoch) end
local key = keys.arrivalKeys(barrierId)
if record.state ~= 'OPEN' then
  if redis.call('SISMEMBER', key, arrivalKey) == 0 then refuse('BARRIER_' .. record.state) end
  return call.uncounted(barrier.values(record))
end
if redis.call('SADD', key, arrivalKey) == 0 then return call.uncounted(barrier.values(record)) end

records.set(record, 'arrivals', string.format('%d', record.arrivals + 1))
barrier.tell(record, 'arrived')
if record.arrivals == record.target then
  records.set(record, 'releasedAt', nowText)
  barrier.finish(record, 'RELEASED')
  barrier.tell(record, 'released')
end
return call.done(barrier.values(record))
