--- @include "lib/retained"
--- @include "scope/_retain"
--- @include "barrier/_barrier"
--- A RELEASED or CANCELLED barrier; its next epoch would have taken it back.
retained['barrier:barrier'] = function(barrierId, at)
  local record = barrier.load(barrierId, 'scopeId', 'state')
  redis.call('UNLINK', keys.barrier(barrierId), keys.arrivalKeys(barrierId))
  redis.call('ZREM', keys.barriers(), barrierId)
  redis.call('ZREM', keys.scopeBarriers(record.scopeId), barrierId)
  barrier.leave(record.state)
  scope.release(record.scopeId, at)
end
