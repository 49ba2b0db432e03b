--- @include "scope/_view"
--- @include "lib/merge"
--- A scope with what lies below it, and what belongs to them. Bounded: a run may be of any size.
local subtree = {}

--- The scope and those below it, nearest first, at most `most` of those; and whether there are more. nil: the scope was
--- never used.
function subtree.scopes(scopeId, most)
  local found = { scope.view(scopeId) }
  if not found[1] then return nil end
  local looked = 1
  while found[looked] do
    for _, child in ipairs(redis.call('ZRANGE', keys.gates(found[looked].id), 0, most)) do
      if #found > most then return found, true end
      found[#found + 1] = scope.view(string.sub(child, -36))
    end
    looked = looked + 1
  end
  return found, false
end

--- The newest ids of a kind (lib/inRun) in these scopes, at most `most`.
local function newest(kind, scopes, most)
  local ids, cursors = {}, {}
  for _, record in ipairs(scopes) do
    if kind.index then
      local cursor = merge.byAge(kind.index(record.id))
      if cursor.at then cursors[#cursors + 1] = cursor end
    else
      for _, id in ipairs(kind.ids(record.id)) do ids[#ids + 1] = id end
    end
  end
  for i, found in ipairs(merge.take(most, merge.inOrder(cursors))) do ids[i] = found.member end
  table.sort(ids, function(a, b) return a > b end)
  return ids
end

--- Rows of a kind in these scopes, newest first, at most `most` and no more than 1,000 that they bring along; and
--- whether there are more.
function subtree.rows(kind, scopes, most)
  local found, along = {}, 0
  for i, id in ipairs(newest(kind, scopes, most + 1)) do
    local row, size = kind.row(id)
    along = along + (size or 0)
    if i > most or along > 1000 then return found, true end
    found[i] = row
  end
  return found, false
end
