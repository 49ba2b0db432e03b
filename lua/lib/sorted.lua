--- @include "lib/undo"
--- Sorted sets as a run changes them: unit.write writes one ZADD and one ZREM for each. Of one that has changed only the
--- first member, the number of its members and the score of a member can be read.
local sorted = {}
--- By key: members and their scores, false of those that go; and whether any comes or moves.
local changed, grows
--- By key: what has been read of a set from its beginning, members and scores; `at`: the first that has not changed.
local fronts
local command, removal = { 'ZADD' }, { 'ZREM' }

function sorted.begin()
  changed, grows, fronts = {}, {}, {}
end

local function mark(key, member, score)
  local members = changed[key]
  if members then put(members, member, score) else put(changed, key, { [member] = score }) end
end

--- Puts a member into a set, or moves it there. score: text.
function sorted.add(key, score, member)
  mark(key, member, score)
  if not grows[key] then put(grows, key, true) end
end

function sorted.remove(key, member)
  mark(key, member, false)
end

--- The first entry that is stored and has not changed. A run that goes on reads twice as many each time.
local function storedFirst(key, members)
  local front = fronts[key]
  if not front then
    local entries = redis.call('ZRANGE', key, '0', '1', 'WITHSCORES')
    front = { entries = entries, at = 1, size = 2, isWhole = not entries[3] }
    fronts[key] = front
  end
  local entries = front.entries
  while members do
    local member = entries[front.at]
    if member and members[member] ~= nil then
      put(front, 'at', front.at + 2)
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
  local members = changed[key]
  local first, least = storedFirst(key, members)
  if grows[key] then
    local lowest = tonumber(least) or math.huge
    for member, score in pairs(members) do
      local number = tonumber(score)
      if number and (number < lowest or number == lowest and (not first or member < first)) then
        first, least, lowest = member, score, number
      end
    end
  end
  return first, least
end

function sorted.isEmpty(key)
  if changed[key] then return not sorted.first(key) end
  return redis.call('ZCARD', key) == 0
end

--- The score of a member as text; false where it is none.
function sorted.score(key, member)
  local members = changed[key]
  local score = members and members[member]
  if score ~= nil then return score end
  return redis.call('ZSCORE', key, member)
end

--- The scores of several members.
function sorted.scores(key, members)
  local scores, changes = redis.call('ZMSCORE', key, unpack(members)), changed[key]
  for i, member in ipairs(changes and members or {}) do
    if changes[member] ~= nil then scores[i] = changes[member] end
  end
  return scores
end

--- How many members there are.
function sorted.count(key)
  local count, changes, members = redis.call('ZCARD', key), changed[key], {}
  for member in pairs(changes or {}) do members[#members + 1] = member end
  for i, score in ipairs(changes and redis.call('ZMSCORE', key, unpack(members)) or {}) do
    count = count + (changes[members[i]] and 1 or 0) - (score and 1 or 0)
  end
  return count
end

--- For unit.delete.
function sorted.forget(key)
  put(changed, key, nil)
  put(fronts, key, { entries = {}, at = 1, isWhole = true })
end

function sorted.isChanged(key)
  return changed[key]
end

function sorted.write()
  for key, members in pairs(changed) do
    local set, gone = 2, 2
    command[2], removal[2] = key, key
    for member, score in pairs(members) do
      if score then
        command[set + 1], command[set + 2], set = score, member, set + 2
      else
        removal[gone + 1], gone = member, gone + 1
      end
    end
    if set > 2 then redis.call(unpack(command, 1, set)) end
    if gone > 2 then redis.call(unpack(removal, 1, gone)) end
  end
  changed, grows, fronts = {}, {}, {}
end
