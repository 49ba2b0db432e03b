--- @include "lib/retained"
--- @include "lib/scope"
--- Scopes go when nothing belongs to them any more and they have been idle for as long as finished work is kept.

local function isEmpty(scopeId)
  local consumptions, groupId = unpack(redis.call('HMGET', keys.scope(scopeId), 'consumptions', 'groupId'))
  return not groupId and (tonumber(consumptions) or 0) == 0 and redis.call('EXISTS', keys.scopeMessages(scopeId),
    keys.scopeReservations(scopeId), keys.scopeBarriers(scopeId), keys.scopeWaiters(scopeId), keys.gates(scopeId)) == 0
end

--- Something that belonged to the scope has gone, which had been over since `at`.
function scope.release(scopeId, at)
  if isEmpty(scopeId) then redis.call('ZADD', keys.finished(), string.format('%d', at), 'scope:scope:' .. spaceId .. ':' .. scopeId) end
end

--- It may have been used again meanwhile: then it is released again with the last thing of that.
retained['scope:scope'] = function(scopeId, at)
  local path = scope.path(scopeId)
  if not path or not isEmpty(scopeId) then return end
  scope.remove(scopeId)
  count.add(count.space, 'scopes:IDLE', -1)
  local parentId = path[#path - 1]
  if parentId then
    redis.call('ZREM', keys.gates(parentId), scopeId)
    scope.release(parentId, at)
  end
end
