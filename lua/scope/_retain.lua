--- @include "lib/inRun"
--- @include "lib/retained"
--- @include "scope/_scope"
--- @include "*/_run"
--- Scopes go when nothing belongs to them any more and they have been idle for as long as finished work is kept.

local function isEmpty(scopeId)
  local indexes = { keys.gates(scopeId) }
  for _, kind in pairs(inRun) do
    if kind.holds and kind.holds(scopeId) then return false end
    if kind.index then indexes[#indexes + 1] = kind.index(scopeId) end
  end
  return redis.call('EXISTS', unpack(indexes)) == 0
end

--- Something that belonged to the scope has gone, which had been over since `at`.
function scope.release(scopeId, at)
  if isEmpty(scopeId) then redis.call('ZADD', keys.finished(), string.format('%d', at), 'scope:scope:' .. spaceNumber .. ':' .. scopeId) end
end

--- It may have been used again meanwhile: then it is released again with the last thing of that.
retained['scope:scope'] = function(scopeId, at)
  local path = scope.path(scopeId)
  if not path or not isEmpty(scopeId) then return end
  scope.remove(scopeId)
  scope.leave('IDLE')
  local parentId = path[#path - 1]
  if parentId then
    redis.call('ZREM', keys.gates(parentId), scopeId)
    scope.release(parentId, at)
  end
end
