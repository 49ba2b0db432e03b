--- @include "lib/call"
--- @include "lib/merge"
--- A scope with what lies below it, and what belongs to them. Bounded: a run may be of any size.
local subtree = {}

--- The scope's row (parentScopeId, live, createdAt, consumptions, units, groupId, id), nil where it was never used.
local function read(scopeId)
  local row = redis.call('HMGET', keys.scope(scopeId), 'path', 'live', 'createdAt', 'consumptions', 'consumedUnits', 'groupId')
  if not row[1] then return nil end
  row[1] = string.match(row[1], '(%S+) %S+$') or false
  row[7] = scopeId
  return row
end

--- Rows of the scope and of those below it, nearest first, at most `most` of those; and whether there are more. nil:
--- the scope was never used.
function subtree.scopes(scopeId, most)
  local rows = { read(scopeId) }
  if not rows[1] then return nil end
  local looked = 1
  while rows[looked] do
    for _, childId in ipairs(redis.call('ZRANGE', keys.gates(rows[looked][7]), 0, most)) do
      if #rows > most then return rows, true end
      rows[#rows + 1] = read(childId)
    end
    looked = looked + 1
  end
  return rows, false
end

--- Adds a cursor over one scope's index to those of the same kind.
function subtree.add(cursors, cursor)
  if cursor.at then cursors[#cursors + 1] = cursor end
end

--- The newest ids that the cursors come to, at most `most`.
function subtree.newest(cursors, most)
  local ids = {}
  for i, found in ipairs(merge.take(most, merge.inOrder(cursors))) do ids[i] = found[1] end
  return ids
end
