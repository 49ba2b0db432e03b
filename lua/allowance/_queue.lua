--- @include "lib/clock"
--- @include "lib/space"
--- The waiters of an allowance, strictly first in, first out. A list gives the order; a sorted set of the live ones,
--- scored by the order they came in, gives position and cheap removal. Who leaves out of the middle stays in the list
--- as a dead entry, which the head skips.
local queue = { rebuildBatch = 100 }

--- Puts a waiter at the end, and returns its position.
function queue.add(allowanceId, waiterId)
  local sequence = redis.call('HINCRBY', keys.allowance(allowanceId), 'sequence', 1)
  redis.call('RPUSH', keys.waiterQueue(allowanceId), waiterId)
  redis.call('ZADD', keys.liveWaiters(allowanceId), sequence, waiterId)
  redis.call('ZADD', keys.waitingWaiters(), now, waiterId)
  return redis.call('ZCARD', keys.liveWaiters(allowanceId))
end

--- Nobody waits any more: what is left are dead entries.
function queue.clear(allowanceId)
  redis.call('UNLINK', keys.waiterQueue(allowanceId), keys.rebuiltQueue(allowanceId))
  redis.call('HDEL', keys.allowance(allowanceId), 'rebuiltThrough')
end

--- Where the dead outnumber the living, goes on with a list of the living alone: one batch with each waiter that
--- leaves, so the new list gains on the old one. The last batch puts it in the old one's place; who was granted or
--- left meanwhile is a dead entry there.
function queue.rebuild(allowanceId)
  local living = redis.call('ZCARD', keys.liveWaiters(allowanceId))
  if redis.call('LLEN', keys.waiterQueue(allowanceId)) <= 2 * living + queue.rebuildBatch then return end
  local through = redis.call('HGET', keys.allowance(allowanceId), 'rebuiltThrough') or 0
  local batch = redis.call('ZRANGE', keys.liveWaiters(allowanceId), '(' .. through, '+inf', 'BYSCORE', 'LIMIT', 0, queue.rebuildBatch)
  if #batch > 0 then redis.call('RPUSH', keys.rebuiltQueue(allowanceId), unpack(batch)) end
  if #batch == queue.rebuildBatch then
    redis.call('HSET', keys.allowance(allowanceId), 'rebuiltThrough', redis.call('ZSCORE', keys.liveWaiters(allowanceId), batch[#batch]))
    return
  end
  redis.call('UNLINK', keys.waiterQueue(allowanceId))
  if redis.call('EXISTS', keys.rebuiltQueue(allowanceId)) == 1 then
    redis.call('RENAME', keys.rebuiltQueue(allowanceId), keys.waiterQueue(allowanceId))
  end
  redis.call('HDEL', keys.allowance(allowanceId), 'rebuiltThrough')
end
