--- @include "lib/retained"
--- @include "scope/_retain"
--- A RELEASED or CANCELLED barrier; its next epoch would have taken it back.
retained['barrier:barrier'] = function(barrierId, at)
  local scopeId, state = unpack(redis.call('HMGET', keys.barrier(barrierId), 'scopeId', 'state'))
  redis.call('UNLINK', keys.barrier(barrierId), keys.arrivalKeys(barrierId))
  redis.call('ZREM', keys.barriers(), barrierId)
  redis.call('ZREM', keys.scopeBarriers(scopeId), barrierId)
  count.add(count.space, 'barriers:' .. state, -1)
  scope.release(scopeId, at)
end
