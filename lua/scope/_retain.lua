--- @include "lib/inRun"
--- @include "lib/retained"
--- @include "lib/unit"
--- @include "lib/finished"
--- @include "scope/_scope"
--- @include "*/_run"
--- A scope is removed when it has been empty and idle for as long as finished work is kept.

local function isEmpty(scopeId)
  local indexes = { keys.gates(scopeId) }
  for _, kind in pairs(inRun) do
    if kind.holds and kind.holds(scopeId) then return false end
    if kind.index then indexes[#indexes + 1] = kind.index(scopeId) end
  end
  return redis.call('EXISTS', unpack(indexes)) == 0
end

--- Called when a record of the scope, finished at `at`, has been removed.
function scope.release(scopeId, at)
  unit.write()
  if isEmpty(scopeId) then finished.add('scope:scope', scopeId, string.format('%d', at)) end
end

--- The scope may have been used again; then it is released with the last record of that use.
retained['scope:scope'] = function(scopeId, at)
  local path = scope.path(scopeId)
  if not path or not isEmpty(scopeId) then return end
  unit.delete(keys.scope(scopeId))
  scope.leave('IDLE')
  local parentId = path[#path - 1]
  if parentId then
    sorted.remove(keys.gates(parentId), scopeId)
    scope.release(parentId, at)
  end
end
