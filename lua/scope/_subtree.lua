--- @include "lib/call"
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

--- Adds the ids of one scope's index `key` to `ids`, a list of at most `most` ids that stands newest first once it is full:
--- none older than those is looked at. Ids begin with the moment of their record.
function subtree.take(key, ids, most)
  local oldest = #ids == most and '(' .. ids[most] or '-'
  local found = redis.call('ZRANGE', key, '+', oldest, 'BYLEX', 'REV', 'LIMIT', 0, most)
  if not found[1] then return end
  for _, id in ipairs(found) do ids[#ids + 1] = id end
  if #ids < most then return end
  table.sort(ids, function(a, b) return a > b end)
  for i = #ids, most + 1, -1 do ids[i] = nil end
end
