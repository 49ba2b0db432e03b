--- @export subtree
--- @include lib/merge lib/records scope/_scope

local ended = { 'endedAcked', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled' }

--- The scope as reads show it: cancelled if it or any ancestor is; nil if it was never used.
function scope.view(scopeId)
  local record = scope.load(scopeId, 'path', 'live', 'cancelledAt', 'liveWaiters', 'name', 'createdAt', 'paused',
    'endedAcked', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled')
  if not record then return nil end
  for _, name in ipairs(ended) do
    -- An earlier version did not count ends, so more messages may have been requeued than were counted.
    if record[name] and record[name] < 0 then record[name] = 0 end
  end
  local path = scope.path(scopeId)
  local cancel = scope.cancelOf(path)
  record.parentScopeId = path[#path - 1] or false
  if cancel and not record.cancelledAt then
    -- Later calls of the invocation must not take it for the stored record, which the cancel has not reached.
    record = records.copy(record)
    record.cancelledAt = cancel.cancelledAt
  end
  return record
end

--- A scope and its descendants with their records. Reads are bounded, as a run may have any size.
local subtree = {}

--- The scope and at most `maxScopes` descendants, nearest first, and whether there are more; nil if there is no such
--- scope.
function subtree.scopes(scopeId, maxScopes)
  local found = { scope.view(scopeId) }
  if not found[1] then return nil end
  local looked = 1
  while found[looked] do
    for _, child in ipairs(redis.call('ZRANGE', keys.gates(found[looked].id), 0, maxScopes)) do
      if #found > maxScopes then return found, true end
      found[#found + 1] = scope.view(string.sub(child, -36))
    end
    looked = looked + 1
  end
  return found, false
end

--- The newest ids, at most `maxIds`, of a kind (lib/hooks) in these scopes.
local function newest(kind, scopes, maxIds)
  local ids, cursors = {}, {}
  for _, record in ipairs(scopes) do
    if kind.index then
      local cursor = merge.byAge(kind.index(record.id))
      if cursor.at then cursors[#cursors + 1] = cursor end
    else
      for _, id in ipairs(kind.ids(record.id)) do ids[#ids + 1] = id end
    end
  end
  for i, found in ipairs(merge.take(maxIds, merge.inOrder(cursors))) do ids[i] = found.member end
  table.sort(ids, function(a, b) return a > b end)
  return ids
end

--- Rows of a kind in these scopes, newest first, and whether there are more: at most `maxRows` rows with at most 1,000
--- further records in them. Damaged records are not shown, so there are then more.
function subtree.rows(kind, scopes, maxRows)
  local found, further, isCut, ids = {}, 0, false, newest(kind, scopes, maxRows + 1)
  if kind.ahead then kind.ahead(ids, 1) end
  for i, id in ipairs(ids) do
    local row, size, isWhole = kind.row(id)
    further = further + (size or 0)
    if i > maxRows or further > 1000 then return found, true end
    found[#found + 1] = row
    isCut = isCut or not row or isWhole == false
  end
  return found, isCut
end
