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
  local kept = redis.call('HGET', keys.consumptions(), consumptionId)
  local allowanceId, scopeId, units = string.match(kept, '^(%S+) (%S+) (%S+)')
  local workKey = string.match(kept, '^%S+ %S+ %S+ %S+ %S+ (.*)$')
  redis.call('HDEL', keys.consumptions(), consumptionId)
  if workKey then redis.call('HDEL', keys.consumptionKeys(allowanceId), workKey) end
  redis.call('HINCRBY', keys.scope(scopeId), 'consumptions', -1)
  redis.call('HINCRBY', keys.scope(scopeId), 'consumedUnits', -units)
  scope.release(scopeId, at)
end
