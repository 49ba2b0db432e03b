--- @include "lib/gathered"
--- Sorted sets as a run changes them: one ZREM and one ZADD for each are written at its end. Of one that has changed only
--- the first member, the number of its members and the scores of members can be read.
local sorted = {}
--- By key: what has been read of a set from its beginning, members and scores; `at`: the first that has not changed.
local fronts

function sorted.begin()
  fronts = nil
end

--- Puts a member into a set, or moves it there. score: text.
function sorted.add(key, score, member)
  gather('ZADD', key, score, member)
end

function sorted.remove(key, member)
  if byKey.ZADD[key] then ungather('ZADD', key, member, 2, 2) end
  gather('ZREM', key, member)
  -- For `change` to find it.
  byKey.ZREM[key][member] = true
end

--- What this run says of a member: its score, false where it goes, nil where it has not changed.
local function change(key, member)
  local place, args = placeOf('ZADD', key, member, 2, 2)
  if place then return args[place - 1] end
  local gone = byKey.ZREM[key]
  if gone and gone[member] then return false end
end

--- The first entry that is stored and has not changed. A run that goes on reads twice as many each time.
local function storedFirst(key)
  fronts = fronts or {}
  local front = fronts[key]
  if not front then
    local entries = redis.call('ZRANGE', key, '0', '1', 'WITHSCORES')
    front = { entries = entries, at = 1, size = 2, isWhole = not entries[3] }
    fronts[key] = front
  end
  local entries, hasChanged = front.entries, byKey.ZADD[key] or byKey.ZREM[key]
  while hasChanged do
    local member = entries[front.at]
    if member and change(key, member) ~= nil then
      front.at = front.at + 2
    elseif member or front.isWhole then
      break
    else
      -- Nothing is written before the end of the run, so the next ones stand where they stood.
      local more = redis.call('ZRANGE', key, front.size, 2 * front.size - 1, 'WITHSCORES')
      for i = 1, #more do entries[#entries + 1] = more[i] end
      front.isWhole, front.size = #more < 2 * front.size, 2 * front.size
    end
  end
  return entries[front.at], entries[front.at + 1]
end

--- The member with the lowest score, and that as text; nil where there is none.
function sorted.first(key)
  local first, least = storedFirst(key)
  local args = byKey.ZADD[key]
  local lowest = args and tonumber(least) or math.huge
  for i = 4, args and #args or 0, 2 do
    local score = tonumber(args[i - 1])
    if score < lowest or score == lowest and (not first or args[i] < first) then
      first, least, lowest = args[i], args[i - 1], score
    end
  end
  return first, least
end

function sorted.isEmpty(key)
  local args = byKey.ZADD[key]
  if args and args[3] then return false end
  if byKey.ZREM[key] then return not sorted.first(key) end
  return redis.call('ZCARD', key) == 0
end

--- The score of a member as text; false where it is none.
function sorted.score(key, member)
  local score = change(key, member)
  if score ~= nil then return score end
  return redis.call('ZSCORE', key, member)
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

--- How many members there are.
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
  look(byKey.ZADD[key], 4, 2)
  look(byKey.ZREM[key], 3, 1)
  return members
end

--- For unit.delete.
function sorted.forget(key)
  fronts = fronts or {}
  fronts[key] = { entries = {}, at = 1, isWhole = true }
end
