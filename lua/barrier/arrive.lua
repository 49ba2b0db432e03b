--- One arrival; the one that reaches the target releases. An arrivalKey counts once per epoch. epoch '': whichever it is.
--- @args barrierId arrivalKey epoch
--- @gather
--- @include "lib/call"
--- @include "barrier/_barrier"
local replay = call.open()
if replay then return replay end
local record = barrier.read(barrierId)
-- A late repetition from an earlier epoch is no repetition of this epoch's arrival, even where the key has arrived.
if epoch ~= '' and epoch ~= record.epoch then refuse('EPOCH_MISMATCH', record.epoch) end
if redis.call('SISMEMBER', keys.arrivalKeys(barrierId), arrivalKey) == 1 then return call.uncounted(barrier.values(record)) end
if record.state ~= 'OPEN' then refuse('BARRIER_' .. record.state) end

redis.call('SADD', keys.arrivalKeys(barrierId), arrivalKey)
record.arrivals = redis.call('HINCRBY', keys.barrier(barrierId), 'arrivals', 1)
barrier.tell(record, 'arrived')
if record.arrivals == tonumber(record.target) then
  record.releasedAt = now
  redis.call('HSET', keys.barrier(barrierId), 'releasedAt', nowText)
  barrier.finish(record, 'RELEASED')
  barrier.tell(record, 'released')
end
return call.done(barrier.values(record))
