--- @include lib/gathered
--- @export sorted
--- Sorted sets as this invocation has changed them. At the end, one ZREM and one ZADD per set are sent. A changed set
--- can only be asked for its first and last member, its size, the scores and ranks of members, and the first few of a
--- range.
local sorted = {}
local added, removed = gathered.byKey.ZADD, gathered.byKey.ZREM
--- By key: members and scores read from the start of a set; `at`: the position of the first unchanged one.
local fronts

--- Forgets the members that were read, as they are now out of date.
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

--- A member's score as changed by this invocation: false if removed, nil if unchanged.
local function change(key, member)
  if added[key] then
    local place, args = gathered.placeOf('ZADD', key, member, 2, 2)
    if place then return args[place - 1] end
  end
  local gone = removed[key]
  if gone and gone[member] then return false end
end

--- The first stored member that has not changed, and its score. Each further read fetches four times as many as before:
--- an invocation of receives takes one member after the other from the same set, and a read costs as much as eight
--- members.
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
    -- If a member was moved more than once, its last score counts.
    if isLower and gathered.placeOf('ZADD', key, args[i], 2, 2) == i then
      first, least, lowest = args[i], args[i - 1], score
    end
  end
  return first, least
end

--- Calls `each` once for every member that this invocation has added or removed.
local function eachChanged(key, each)
  local seen = {}
  local function look(args, from, width)
    for i = from, args and #args or 0, width do
      if not seen[args[i]] then each(args[i]) end
      seen[args[i]] = true
    end
  end
  look(added[key], 4, 2)
  look(removed[key], 3, 1)
end

local function isChanged(key)
  return removed[key] or added[key] and added[key][3]
end

--- Whether one text comes before another by its bytes, the order of members with equal scores; `<` depends on the
--- locale.
local function isBefore(one, other)
  for i = 1, math.min(#one, #other) do
    local a, b = string.byte(one, i), string.byte(other, i)
    if a ~= b then return a < b end
  end
  return #one < #other
end

--- Whether a member with a score comes before another.
local function isInFront(member, score, other, otherScore)
  score, otherScore = tonumber(score), tonumber(otherScore)
  return score < otherScore or score == otherScore and isBefore(member, other)
end

--- At most `limit` members from the start of a range, each followed by its score, with the changes of this invocation.
--- stored(limit): reads the first stored ones. isIn(member, score): whether an added member belongs to the range.
--- isReverse: the range runs from the highest score to the lowest.
local function ranged(key, limit, stored, isIn, isReverse)
  if not isChanged(key) then return stored(limit) end
  local changes, kept, list = 0, {}, {}
  eachChanged(key, function(member)
    local score = change(key, member)
    changes = changes + 1
    if score and isIn(member, score) then kept[#kept + 1] = { member, score } end
  end)
  local entries = stored(limit + changes)
  for i = 1, #entries, 2 do
    if change(key, entries[i]) == nil then kept[#kept + 1] = { entries[i], entries[i + 1] } end
  end
  table.sort(kept, function(a, b)
    if isReverse then a, b = b, a end
    return isInFront(a[1], a[2], b[1], b[2])
  end)
  for i = 1, math.min(limit, #kept) do list[2 * i - 1], list[2 * i] = kept[i][1], kept[i][2] end
  return list
end

--- At most `limit` members from the start, each followed by its score.
function sorted.front(key, limit)
  return ranged(key, limit, function(some) return redis.call('ZRANGE', key, 0, some - 1, 'WITHSCORES') end,
    function() return true end)
end

--- The member with the highest score, and the score as text; nil if the set is empty.
function sorted.last(key)
  local entries = ranged(key, 1, function(some) return redis.call('ZRANGE', key, 0, some - 1, 'REV', 'WITHSCORES') end,
    function() return true end, true)
  return entries[1], entries[2]
end

--- At most `limit` members after `last`, each followed by its score. If `last` is '' or not stored: from the start.
function sorted.behind(key, last, limit)
  local score = last ~= '' and redis.call('ZSCORE', key, last)
  if not score then return sorted.front(key, limit) end
  local rank = redis.call('ZRANK', key, last)
  return ranged(key, limit, function(some) return redis.call('ZRANGE', key, rank + 1, rank + some, 'WITHSCORES') end,
    function(member, at) return isInFront(last, score, member, at) end)
end

--- At most `limit` members with scores between two bounds, written as for ZRANGE BYSCORE, each followed by its score.
function sorted.byScore(key, from, to, limit)
  local least, most = tonumber((string.gsub(from, '^%(', ''))), tonumber((string.gsub(to, '^%(', '')))
  return ranged(key, limit,
    function(some) return redis.call('ZRANGE', key, from, to, 'BYSCORE', 'LIMIT', 0, some, 'WITHSCORES') end,
    function(_, text)
      local score = tonumber(text)
      return (score > least or score == least and string.sub(from, 1, 1) ~= '(')
        and (score < most or score == most and string.sub(to, 1, 1) ~= '(')
    end)
end

--- In a set of equal scores: at most `limit` members that begin with a text, after the member `last` ('': from the
--- start).
function sorted.byName(key, start, last, limit)
  local from = last ~= '' and '(' .. last or '[' .. start
  -- No byte of UTF-8 is as high as this one.
  local to = start == '' and '+' or '(' .. start .. '\255'
  local entries = ranged(key, limit, function(some)
    local list = {}
    for i, member in ipairs(redis.call('ZRANGE', key, from, to, 'BYLEX', 'LIMIT', 0, some)) do
      list[2 * i - 1], list[2 * i] = member, '0'
    end
    return list
  end, function(member) return string.sub(member, 1, #start) == start and (last == '' or isBefore(last, member)) end)
  local members = {}
  for i = 1, #entries, 2 do members[#members + 1] = entries[i] end
  return members
end

--- The number of members before this one; nil if it is not a member. Scores must be distinct.
function sorted.rank(key, member)
  if not isChanged(key) then return redis.call('ZRANK', key, member) or nil end
  local score = sorted.score(key, member)
  if not score then return nil end
  local function isLess(other) return other and tonumber(other) < tonumber(score) end
  local rank = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  eachChanged(key, function(other)
    if isLess(redis.call('ZSCORE', key, other)) then rank = rank - 1 end
    if isLess(change(key, other)) then rank = rank + 1 end
  end)
  return rank
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

--- The member with this score (text) that begins with a prefix; nil if there is none.
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

function sorted.scores(key, members)
  local scores = redis.call('ZMSCORE', key, unpack(members))
  for i, member in ipairs(members) do
    local score = change(key, member)
    if score ~= nil then scores[i] = score end
  end
  return scores
end

function sorted.count(key)
  local members = redis.call('ZCARD', key)
  if not isChanged(key) then return members end
  eachChanged(key, function(member)
    local was = redis.call('ZSCORE', key, member) and 1 or 0
    members = members - was + (change(key, member) and 1 or 0)
  end)
  return members
end

--- For unit.delete.
function sorted.forget(key)
  fronts = fronts or {}
  fronts[key] = { entries = {}, at = 1, isWhole = true }
end
