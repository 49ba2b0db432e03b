--- @include "lib/retained"
--- @include "scope/_retain"
--- Granted, cancelled and expired waiters, and consumptions with their workKeys.
retained['allowance:waiter'] = function(waiterId, at)
  local scopeId, state = unpack(redis.call('HMGET', keys.waiter(waiterId), 'scopeId', 'state'))
  redis.call('UNLINK', keys.waiter(waiterId))
  redis.call('ZREM', keys.scopeWaiters(scopeId), waiterId)
  redis.call('ZREM', keys.heldGrants(), waiterId)
  count.add(count.space, 'waiters:' .. state, -1)
  scope.release(scopeId, at)
end

--- Nothing is kept of a consumption but its entry: `consumptionId allowanceId scopeId units`, and the workKey.
retained['allowance:consumption'] = function(entry, at)
  local allowanceId, scopeId, units, workKey = string.match(entry, '^%S+ (%S+) (%S+) (%d+) ?(.*)$')
  if workKey ~= '' then redis.call('HDEL', keys.consumptionKeys(allowanceId), workKey) end
  redis.call('HINCRBY', keys.scope(scopeId), 'consumptions', -1)
  redis.call('HINCRBY', keys.scope(scopeId), 'consumedUnits', -units)
  scope.release(scopeId, at)
end
