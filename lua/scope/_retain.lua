--- @include lib/clock lib/finished lib/hooks lib/records lib/sorted lib/unit scope/_scope
--- A scope is removed after it has been empty and idle for as long as finished work is kept.

local function isEmpty(scopeId)
  if scope.load(scopeId, 'path', 'paused').paused then return false end
  local indexes = { keys.gates(scopeId) }
  for _, kind in pairs(inRun) do
    if kind.holds and kind.holds(scopeId) then return false end
    if kind.index then indexes[#indexes + 1] = kind.index(scopeId) end
  end
  return redis.call('EXISTS', unpack(indexes)) == 0
end

--- Call it when a record of the scope, finished at `at`, has been removed. A cancelled scope is kept at least that long
--- after its cancel.
function scope.release(scopeId, at)
  unit.write()
  if not isEmpty(scopeId) then return end
  local record = scope.load(scopeId, 'path', 'cancelledAt')
  finished.add('scope:scope', scopeId, string.format('%d', math.max(at, record and record.cancelledAt or 0)))
end

--- A scope that was used again is released with the last record of that use. If the use left no record, the scope is
--- kept for the same time after it.
retained['scope:scope'] = function(scopeId, at)
  local path = scope.path(scopeId)
  if not path or not isEmpty(scopeId) then return end
  for _, id in ipairs(path) do
    if scope.load(id, 'path', 'cancelWalk').cancelWalk then
      -- A cancel that goes on may stand at this scope.
      finished.add('scope:scope', scopeId, nowText)
      return
    end
  end
  local record = scope.load(scopeId, 'path', 'live', 'cancelledAt', 'name', 'createdAt', 'isDeclared', 'usedAt')
  if record.usedAt and record.usedAt > at then
    finished.add('scope:scope', scopeId, string.format('%d', record.usedAt))
    return
  end
  for _, remove in pairs(withScope) do remove(scopeId) end
  local place, parentId = scope.place(scopeId, record.createdAt), path[#path - 1]
  sorted.remove(keys.scopes(), place)
  if record.name then sorted.remove(keys.scopeNames(), scope.namedPlace(record.name, place)) end
  scope.leave(scope.counted(record))
  unit.delete(keys.scope(scopeId))
  if parentId then
    sorted.remove(keys.gates(parentId), place)
    if record.isDeclared then records.add(keys.scope(parentId), 'declaredChildren', -1) end
    scope.release(parentId, at)
  end
end
