--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- Scopes (contract section 3): a tree that grows by first use. A scope's parent never changes, so its record keeps
--- the whole path, root first; `live` counts the READY and CLAIMED messages and WAITING waiters of its subtree.
local scope = { maxDepth = 8 }
--- The paths that this run has read, by key.
local paths

function scope.begin()
  paths = {}
end

--- The path of a scope as a list of ids, root first; nil when it was never used.
function scope.path(scopeId)
  local key = keys.scope(scopeId)
  local known = paths[key]
  if known then return known end
  local path = redis.call('HGET', key, 'path')
  if not path then return nil end
  local ids = {}
  for id in string.gmatch(path, '%S+') do ids[#ids + 1] = id end
  paths[key] = ids
  return ids
end

function scope.remove(scopeId)
  local key = keys.scope(scopeId)
  redis.call('DEL', key)
  paths[key] = nil
end

--- Makes the scope below `parentPath` (nil or empty: a root). The caller has asked scope.check first.
function scope.create(scopeId, parentPath)
  local path = { unpack(parentPath or {}) }
  local parent = path[#path]
  path[#path + 1] = scopeId
  redis.call('HSET', keys.scope(scopeId), 'path', table.concat(path, ' '), 'createdAt', now, 'live', 0)
  count.add(count.space, 'scopes:IDLE', 1)
  journal.append('scope.created', scopeId, scopeId, '"parentScopeId":' .. (parent and '"' .. parent .. '"' or 'null'))
  return path
end

--- Refuses when using this scope for the first time would make one root too many for the plan.
function scope.check(path)
  if path then return end
  local runs, used = unpack(redis.call('HMGET', keys.org(), 'runs', 'usedRuns'))
  if tonumber(runs) and (tonumber(used) or 0) + (count.org.usedRuns or 0) >= tonumber(runs) then refuse('ACTIVE_RUNS_LIMITED', runs) end
end

--- Adds live work (or takes it away) in a scope, and so in every scope above it.
function scope.addLive(path, change)
  for depth, id in ipairs(path) do
    local live = redis.call('HINCRBY', keys.scope(id), 'live', change)
    local woke, slept = change > 0 and live == change, change < 0 and live == 0
    if woke or slept then
      count.add(count.space, 'scopes:ACTIVE', woke and 1 or -1)
      count.add(count.space, 'scopes:IDLE', woke and -1 or 1)
      if depth == 1 then count.add(count.org, 'usedRuns', woke and 1 or -1) end
    end
  end
end
