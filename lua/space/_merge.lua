--- Sorted sets, merged by their scores: what is read does not grow with what they hold.
local pageSize = 16

--- A sorted set, read from its beginning in pages: `at` is the score of the member it stands on, nil at the end.
local function step(cursor)
  cursor.index = cursor.index + 2
  if cursor.index > #cursor.page and (cursor.index == 1 or #cursor.page == 2 * pageSize) then
    cursor.page = redis.call('ZRANGE', cursor.key, cursor.from, cursor.from + pageSize - 1, 'WITHSCORES')
    cursor.from, cursor.index = cursor.from + pageSize, 1
  end
  cursor.member, cursor.at = cursor.page[cursor.index], tonumber(cursor.page[cursor.index + 1])
  return cursor
end

local function open(key, mailboxId)
  return step({ key = key, mailboxId = mailboxId, page = {}, index = -1, from = 0 })
end

--- The lowest members of several sets, at most `most`, as { member, score, mailboxId }. `upcoming` gives cursors, the
--- lowest first; one is asked for when those before it have come as far.
local function merge(most, upcoming)
  local cursors, found = {}, {}
  local coming = upcoming()
  while #found < most do
    local low
    for i, cursor in ipairs(cursors) do
      if not low or cursor.at < cursors[low].at then low = i end
    end
    if coming and not (low and cursors[low].at < coming.at) then
      low = #cursors + 1
      cursors[low], coming = coming, upcoming()
    end
    if not low then break end
    local cursor = cursors[low]
    found[#found + 1] = { cursor.member, cursor.at, cursor.mailboxId }
    if not step(cursor).at then table.remove(cursors, low) end
  end
  return found
end
