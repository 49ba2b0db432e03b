--- @record scope
--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- @include "lib/records"
--- @include "org/_org"
--- Scopes (contract section 3): a tree that grows by first use. A scope's parent never changes, so its record keeps
--- the whole path, root first; `live` counts the READY and CLAIMED messages and WAITING waiters of its subtree.
scope.maxDepth = 8

--- The path of a scope as a list of ids, root first; nil when it was never used.
function scope.path(scopeId)
  local record = scope.load(scopeId, 'path', 'live')
  if not record then return nil end
  if not record.ids then
    local path = record.path
    record.ids = { string.sub(path, 1, 36) }
    for first = 38, #path, 37 do record.ids[#record.ids + 1] = string.sub(path, first, first + 35) end
  end
  return record.ids
end

--- Makes the scope below `parentPath` (nil or empty: a root). The caller has asked scope.check first.
function scope.create(scopeId, parentPath)
  local path = { unpack(parentPath or {}) }
  local parent = path[#path]
  path[#path + 1] = scopeId
  scope.insert({ id = scopeId, path = table.concat(path, ' '), createdAt = now, live = 0 })
  scope.enter({}, 'IDLE')
  emit.scope.created(scopeId, { scopeId = scopeId, parentScopeId = parent })
  return path
end

--- Refuses when using this scope for the first time would make one root too many for the plan.
function scope.check(path)
  if path then return end
  local limits = org.load('runs', 'usedRuns')
  local most = tonumber(limits.runs)
  if most and count.ofOrg(limits, 'usedRuns') >= most then refuse('ACTIVE_RUNS_LIMITED', most) end
end

--- Adds live work (or takes it away) in a scope, and so in every scope above it.
function scope.addLive(path, change)
  for depth, id in ipairs(path) do
    local record = scope.load(id, 'path', 'live')
    local live = record.live + change
    records.set(record, 'live', live)
    local woke, slept = change > 0 and live == change, change < 0 and live == 0
    if woke or slept then
      scope.enter({ state = woke and 'IDLE' or 'ACTIVE' }, woke and 'ACTIVE' or 'IDLE')
      if slept then journal.wake(id) end
      if depth == 1 then count.org('usedRuns', woke and 1 or -1) end
    end
  end
end
