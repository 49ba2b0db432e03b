--- @export merge
--- Merges sorted sets. The amount read is independent of their size and grows slowly with their number.
local merge = {}

--- Moves a cursor to its next entry. `at` is the value that the merge compares, nil at the end. Most sets contribute
--- only their first entries, so pages start short and double.
function merge.step(cursor)
  cursor.index = cursor.index + cursor.width
  if cursor.index > #cursor.page and not cursor.isWhole then
    local from, size = cursor.from + cursor.size, 2 * cursor.size
    cursor.page = redis.call('ZRANGE', cursor.key, from, from + size - 1, cursor.width == 1 and 'REV' or 'WITHSCORES')
    cursor.from, cursor.size, cursor.index, cursor.isWhole = from, size, 1, #cursor.page < size * cursor.width
  end
  cursor.member = cursor.page[cursor.index]
  cursor.at = cursor.width == 1 and cursor.member or tonumber(cursor.page[cursor.index + 1])
  return cursor
end

local function open(key, width, owner)
  return merge.step({ key = key, width = width, owner = owner, page = {}, index = 1 - width, from = -1, size = 1 })
end

--- A cursor over a set by score, lowest first. owner: is returned with each member of this set.
function merge.byScore(key, owner)
  return open(key, 2, owner)
end

--- A cursor over a set of ids with equal scores, newest first: an id starts with its time.
function merge.byAge(key)
  return open(key, 1)
end

local function isBehind(a, b)
  if a.width == 1 then return a.at < b.at end
  -- Within a millisecond, ids tell which is older.
  return a.at > b.at or a.at == b.at and a.member > b.member
end

--- An iterator over cursors in merge order.
function merge.inOrder(cursors)
  table.sort(cursors, function(a, b) return isBehind(b, a) end)
  local given = 0
  return function()
    given = given + 1
    return cursors[given]
  end
end

--- Inserts a cursor into a list whose last element is the first in merge order.
local function place(cursors, cursor)
  local low, high = 1, #cursors + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isBehind(cursors[middle], cursor) then low = middle + 1 else high = middle end
  end
  table.insert(cursors, low, cursor)
end

--- The first members of several sets, `maxMembers` at most, each with `at` and `owner`. `upcoming` iterates over
--- cursors in merge order; the next one is opened only when the merge reaches it.
function merge.take(maxMembers, upcoming)
  local cursors, found = {}, {}
  local coming = upcoming()
  while #found < maxMembers do
    while coming and (not cursors[1] or not isBehind(coming, cursors[#cursors])) do
      place(cursors, coming)
      coming = upcoming()
    end
    local cursor = table.remove(cursors)
    if not cursor then break end
    found[#found + 1] = { member = cursor.member, at = cursor.at, owner = cursor.owner }
    if merge.step(cursor).at then place(cursors, cursor) end
  end
  return found
end
