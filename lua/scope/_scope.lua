--- @record scope
--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- @include "lib/records"
--- @include "org/_org"
--- Scopes (contract section 3): a tree that grows by first use. A scope's parent never changes, so its record keeps
--- the whole path, root first; `live` counts the READY and CLAIMED messages and WAITING waiters of its subtree.
scope.maxDepth = 8

--- The record of a scope, path and live; nil when it was never used.
function scope.read(scopeId)
  local key = keys.scope(scopeId)
  local record = records.known(key)
  if record then return record end
  record = scope.load(scopeId, 'path', 'live')
  if not record then return nil end
  local path = record.path
  record.path = { string.sub(path, 1, 36) }
  for first = 38, #path, 37 do record.path[#record.path + 1] = string.sub(path, first, first + 35) end
  return records.keep(key, record)
end

--- The path of a scope as a list of ids, root first; nil when it was never used.
function scope.path(scopeId)
  local record = scope.read(scopeId)
  return record and record.path
end

function scope.remove(scopeId)
  local key = keys.scope(scopeId)
  records.forget(key)
  redis.call('DEL', key)
end

--- Makes the scope below `parentPath` (nil or empty: a root). The caller has asked scope.check first.
function scope.create(scopeId, parentPath)
  local path = { unpack(parentPath or {}) }
  local parent = path[#path]
  path[#path + 1] = scopeId
  redis.call('HSET', keys.scope(scopeId), 'path', table.concat(path, ' '), 'createdAt', now, 'live', 0)
  scope.enter({}, 'IDLE')
  emit.scope.created(scopeId, { scopeId = scopeId, parentScopeId = parent })
  return path
end

--- Refuses when using this scope for the first time would make one root too many for the plan.
function scope.check(path)
  if path then return end
  local limits = org.load('runs', 'usedRuns')
  local most = tonumber(limits.runs)
  if most and limits.usedRuns + (count.org.usedRuns or 0) >= most then refuse('ACTIVE_RUNS_LIMITED', most) end
end

--- Adds live work (or takes it away) in a scope, and so in every scope above it.
function scope.addLive(path, change)
  for depth, id in ipairs(path) do
    local record = scope.read(id)
    local live = record.live + change
    records.set(record, 'live', live)
    local woke, slept = change > 0 and live == change, change < 0 and live == 0
    if woke or slept then
      scope.enter({ state = woke and 'IDLE' or 'ACTIVE' }, woke and 'ACTIVE' or 'IDLE')
      if depth == 1 then count.add(count.org, 'usedRuns', woke and 1 or -1) end
    end
  end
end
