--- @include lib/gathered
--- @export sorted
--- Sorted sets as the invocation changes them: one ZREM and one ZADD per set are sent at the end. A changed set can only be
--- asked for its first member, its number of members and the scores of members.
local sorted = {}
local added, removed = gathered.byKey.ZADD, gathered.byKey.ZREM
--- By key: the members and scores read from the start of a set; `at`: the position of the first unchanged one.
local fronts

--- What was read of sorted sets is out of date from here on.
function sorted.start()
  fronts = nil
end

--- Adds a member or changes its score. score: text.
function sorted.add(key, score, member)
  gathered.add('ZADD', key, score, member)
end

function sorted.remove(key, member)
  if added[key] then gathered.takeBack('ZADD', key, member, 2, 2) end
  gathered.add('ZREM', key, member)
  -- Lets `change` find it.
  removed[key][member] = true
end

--- A member's score as this invocation changed it: false if removed, nil if unchanged.
local function change(key, member)
  if added[key] then
    local place, args = gathered.placeOf('ZADD', key, member, 2, 2)
    if place then return args[place - 1] end
  end
  local gone = removed[key]
  if gone and gone[member] then return false end
end

--- The first stored member that has not changed, and its score. Each further read fetches four times as many: a
--- invocation of receives takes one after the other from the same set, and a read costs as much as eight members.
local function storedFirst(key)
  fronts = fronts or {}
  local front = fronts[key]
  if not front then
    local entries = redis.call('ZRANGE', key, '0', '1', 'WITHSCORES')
    front = { entries = entries, at = 1, isWhole = not entries[3] }
    fronts[key] = front
  end
  local entries, hasChanged = front.entries, added[key] or removed[key]
  while hasChanged do
    local member = entries[front.at]
    if member and change(key, member) ~= nil then
      front.at = front.at + 2
    elseif member or front.isWhole then
      break
    else
      -- Nothing is written before the end of the invocation, so ranks have not moved.
      local first, size = #entries / 2, 2 * #entries
      local more = redis.call('ZRANGE', key, first, first + size - 1, 'WITHSCORES')
      for i = 1, #more do entries[2 * first + i] = more[i] end
      front.isWhole = #more < 2 * size
    end
  end
  return entries[front.at], entries[front.at + 1]
end

--- The member with the lowest score, and the score as text; nil if the set is empty.
function sorted.first(key)
  local first, least = storedFirst(key)
  local args = added[key]
  if not args then return first, least end
  local lowest = tonumber(least) or math.huge
  for i = 4, #args, 2 do
    local score = tonumber(args[i - 1])
    local isLower = score < lowest or score == lowest and (not first or args[i] < first)
    -- Of a member that was moved more than once, the last score counts.
    if isLower and gathered.placeOf('ZADD', key, args[i], 2, 2) == i then
      first, least, lowest = args[i], args[i - 1], score
    end
  end
  return first, least
end

--- The first stored members behind another ('' or one that has gone: from the first on), at most `limit`, each followed by
--- its score, without those that this invocation has removed; nil where it has added some.
function sorted.behind(key, last, limit)
  if added[key] and added[key][3] then return nil end
  local rank = last ~= '' and redis.call('ZRANK', key, last)
  local start = rank and rank + 1 or 0
  local entries, kept = redis.call('ZRANGE', key, start, start + limit - 1, 'WITHSCORES'), {}
  for i = 1, #entries, 2 do
    if change(key, entries[i]) == nil then kept[#kept + 1], kept[#kept + 2] = entries[i], entries[i + 1] end
  end
  return kept
end

function sorted.isEmpty(key)
  local args = added[key]
  if args and args[3] then return false end
  if removed[key] then return not sorted.first(key) end
  return redis.call('ZCARD', key) == 0
end

--- The score of a member as text; false if it is not a member.
function sorted.score(key, member)
  local score = change(key, member)
  if score ~= nil then return score end
  return redis.call('ZSCORE', key, member)
end

--- Whether one text comes before another by its bytes, as members of one score do; `<` goes by the locale.
local function isBefore(one, other)
  for i = 1, math.min(#one, #other) do
    local a, b = string.byte(one, i), string.byte(other, i)
    if a ~= b then return a < b end
  end
  return #one < #other
end

--- The member of this score (text) that begins with a prefix; nil if there is none.
function sorted.beginningWith(key, score, prefix)
  local args = added[key]
  for i = 4, args and #args or 0, 2 do
    if args[i - 1] == score and string.sub(args[i], 1, #prefix) == prefix then return args[i] end
  end
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', key, score, score)
  local member
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call('ZRANGE', key, middle, middle)[1]
    if isBefore(found, prefix) then low = middle + 1 else high, member = middle, found end
  end
  local isIt = member and string.sub(member, 1, #prefix) == prefix and change(key, member) ~= false
  return isIt and member or nil
end

--- The scores of several members.
function sorted.scores(key, members)
  local scores = redis.call('ZMSCORE', key, unpack(members))
  for i, member in ipairs(members) do
    local score = change(key, member)
    if score ~= nil then scores[i] = score end
  end
  return scores
end

--- The number of members.
function sorted.count(key)
  local members, seen = redis.call('ZCARD', key), {}
  local function look(args, from, width)
    for i = from, args and #args or 0, width do
      local member = args[i]
      if not seen[member] then
        seen[member] = true
        local was = redis.call('ZSCORE', key, member) and 1 or 0
        members = members - was + (change(key, member) and 1 or 0)
      end
    end
  end
  look(added[key], 4, 2)
  look(removed[key], 3, 1)
  return members
end

--- For unit.delete.
function sorted.forget(key)
  fronts = fronts or {}
  fronts[key] = { entries = {}, at = 1, isWhole = true }
end
