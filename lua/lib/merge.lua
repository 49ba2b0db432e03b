--- Sorted sets, merged: what is read does not grow with what they hold, and little with their number.
local merge = {}

--- Puts a cursor on its next entry: `at` is what it is merged by, nil at the end. Of most sets the first entries are all
--- that is wanted, so pages begin short, and double.
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

--- A cursor over a set by its scores, the lowest first. owner: comes with what is found there.
function merge.byScore(key, owner)
  return open(key, 2, owner)
end

--- A cursor over a set of ids that are all scored alike, the newest first: ids begin with the moment of their record.
function merge.byAge(key)
  return open(key, 1)
end

local function isBehind(a, b)
  if a.width == 1 then return a.at < b.at end
  return a.at > b.at
end

--- Gives cursors one by one, the first first.
function merge.inOrder(cursors)
  table.sort(cursors, function(a, b) return isBehind(b, a) end)
  local given = 0
  return function()
    given = given + 1
    return cursors[given]
  end
end

--- Puts a cursor among others, of which the first stands last.
local function place(cursors, cursor)
  local low, high = 1, #cursors + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isBehind(cursors[middle], cursor) then low = middle + 1 else high = middle end
  end
  table.insert(cursors, low, cursor)
end

--- The first members of several sets, at most `most`, with `at` and `owner`. `upcoming` gives cursors, the first
--- first; one is asked for when those before it have come as far.
function merge.take(most, upcoming)
  local cursors, found = {}, {}
  local coming = upcoming()
  while #found < most do
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
