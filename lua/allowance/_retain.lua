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

retained['allowance:consumption'] = function(consumptionId, at)
  local allowanceId, scopeId, units, workKey = unpack(redis.call('HMGET', keys.consumption(consumptionId), 'allowanceId', 'scopeId',
    'units', 'workKey'))
  redis.call('UNLINK', keys.consumption(consumptionId))
  if workKey ~= '' then redis.call('HDEL', keys.consumptionKeys(allowanceId), workKey) end
  redis.call('HINCRBY', keys.scope(scopeId), 'consumptions', -1)
  redis.call('HINCRBY', keys.scope(scopeId), 'consumedUnits', -units)
  scope.release(scopeId, at)
end
