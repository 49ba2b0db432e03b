--- @record scope
--- @include lib/clock lib/count lib/records lib/refuse lib/sorted org/_org
--- Scopes: a tree in which a scope is created by its first use. A scope's parent never changes, so its record has the
--- whole path, root first. `live` counts the unfinished messages, the WAITING waiters and the WAITING holds of its
--- subtree;
--- `cancelledAt` is set once it is cancelled. Everything below a cancelled scope counts as cancelled at once, marked or
--- not.
scope.maxDepth = 8

--- The fields that every use of a scope needs, and the count that most messages change at their end: adding to a field
--- that was not read would take another command.
local function read(scopeId)
  return scope.load(scopeId, 'path', 'live', 'cancelledAt', 'endedAcked')
end

--- The path of a scope as a list of ids, root first; nil if there is no such scope.
function scope.path(scopeId)
  local record = read(scopeId)
  if not record then return nil end
  local ids = record.ids
  if not ids then
    local path = record.path
    ids = { string.sub(path, 1, 36) }
    for first = 38, #path, 37 do ids[#ids + 1] = string.sub(path, first, first + 35) end
    record.ids, ids.last = ids, record
  end
  return ids
end

--- Whether a scope is this ancestor or below it; '' is above all scopes. A removed scope is below none.
function scope.isWithin(scopeId, ancestorId)
  if ancestorId == '' then return true end
  local record = read(scopeId)
  return record and string.find(record.path, ancestorId, 1, true) ~= nil
end

--- The record of the scope at this depth of a path.
function scope.at(path, depth)
  if depth == #path and path.last then return path.last end
  return read(path[depth])
end

--- The record of the scope with the earliest cancel on a path, down to the scope `last` (nil: the whole path); nil if
--- none is cancelled.
function scope.cancelOf(path, last)
  local first
  for depth = 1, #path do
    local record = depth == #path and path.last or read(path[depth])
    local cancelledAt = record.cancelledAt
    -- Scopes below are marked with the time of the cancelled scope, so the topmost one wins.
    if cancelledAt and (not first or cancelledAt < first.cancelledAt) then first = record end
    if path[depth] == last then break end
  end
  return first
end

--- The cancel of the run that a record belongs to; nil if there is none.
function scope.cancelFor(record)
  return scope.cancelOf(scope.path(record.scopeId))
end

--- Refuses new work in a cancelled run. path: nil for a scope that was never used.
function scope.needRunning(path)
  if path and scope.cancelOf(path) then refuse('SCOPE_CANCELLED') end
end

--- The member for a scope in sets by order of creation.
function scope.place(scopeId, createdAt)
  return string.format('%012x ', createdAt) .. scopeId
end

--- The member for a scope in the set by name.
function scope.namedPlace(name, place)
  return name .. '\t' .. place
end

--- Creates a scope below `parentPath` (nil or empty for a root scope). Call scope.check first. name: may be nil.
function scope.create(scopeId, parentPath, name)
  local path = { unpack(parentPath or {}) }
  local parent = path[#path]
  path[#path + 1] = scopeId
  scope.insert({ id = scopeId, path = table.concat(path, ' '), createdAt = now, live = 0, name = name })
  local place = scope.place(scopeId, now)
  sorted.add(keys.scopes(), '0', place)
  if name then sorted.add(keys.scopeNames(), '0', scope.namedPlace(name, place)) end
  if parent then sorted.add(keys.gates(parent), '0', place) end
  scope.enter({}, 'IDLE')
  emit.scope.created(scopeId, { scopeId = scopeId, parentScopeId = parent })
  return path
end

--- Records a use that leaves no record to keep the scope. The scope is then kept for its retention period after this
--- use (scope/_retain).
function scope.use(scopeId)
  records.put(keys.scope(scopeId), 'usedAt', now)
end

--- Refuses if a new root scope would exceed the plan's active runs. path: nil for a scope that does not exist yet.
function scope.check(path)
  if path then return end
  local limits = org.load('runs', 'usedRuns')
  local maxRuns = tonumber(limits.runs)
  if maxRuns and count.ofOrg(limits, 'usedRuns') >= maxRuns then refuse('ACTIVE_RUNS_LIMITED', maxRuns) end
end

--- The state that the census counts a scope in. A scope below a cancelled one keeps its state until it is marked
--- itself.
function scope.counted(record)
  return record.cancelledAt and 'CANCELLED' or record.live > 0 and 'ACTIVE' or 'IDLE'
end

--- Adds to a counter of a scope and all its ancestors, which count their subtrees.
function scope.addAlong(path, counter, change)
  for depth = 1, #path do records.addTo(scope.at(path, depth), counter, change) end
end
