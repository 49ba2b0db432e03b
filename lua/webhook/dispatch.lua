--- The outbox of a space: reads on in the journal for each destination that has fewer than 1,000 unfinished deliveries,
--- then names the attempts that are due, a few of each destination at a time (so that a dead one never takes the place of
--- another). What it names is guarded against being named again for as long as an attempt may take. Replies with whether
--- there is more to read (-1: no destinations), the attempts (destination, entry, number), and in how many milliseconds
--- the next is due ('': nothing is unfinished).
--- @args most
--- @include "lib/clock"
--- @include "lib/count"
--- @include "webhook/_delivery"
local ids = redis.call('ZRANGE', keys.destinations(), 0, -1)
if not ids[1] then return { -1, {}, '' } end
most = tonumber(most)
local last, added = destination.tail()
local more, attempts, pages, nextAt = 0, {}, {}, math.huge

local function entriesAfter(position)
  pages[position] = pages[position] or redis.call('XRANGE', keys.events(), '(' .. position, '+', 'COUNT', most)
  return pages[position]
end

local function readOn(id, eventTypes, position, readCount)
  local room = 1000 - redis.call('ZCARD', keys.unfinished(id))
  if room <= 0 then return end
  local entries, found = entriesAfter(position), {}
  local read = math.min(room, #entries)
  for i = 1, read do
    local type = entries[i][2][1]
    local aggregate = string.match(type, '^%w+')
    if aggregate ~= 'destination' and aggregate ~= 'delivery' and (eventTypes == '*'
      or string.find(eventTypes, ',' .. type .. ',', 1, true) or string.find(eventTypes, ',' .. aggregate .. '.*,', 1, true)) then
      found[#found + 1], found[#found + 2] = nowText, entries[i][1]
    end
  end
  if found[1] then
    redis.call('ZADD', keys.unfinished(id), unpack(found))
    count.add(count.space, 'outbox:PENDING', #found / 2)
  end
  local atEnd = read == #entries and read < most
  if not atEnd then more = 1 end
  redis.call('HSET', keys.destination(id), 'position', atEnd and last or entries[read][1], 'readCount', atEnd and added or readCount + read)
end

for _, id in ipairs(ids) do
  local record = redis.call('HMGET', keys.destination(id), 'state', 'eventTypes', 'position', 'readCount', 'consecutiveFailures')
  if record[1] == 'ACTIVE' then
    if record[3] ~= last then readOn(id, record[2], record[3], record[4]) end
    redis.call('ZREMRANGEBYSCORE', keys.running(id), '-inf', nowText)
    local slots = (tonumber(record[5]) > 0 and 2 or 16) - redis.call('ZCARD', keys.running(id))
    local due = slots > 0 and redis.call('ZRANGE', keys.unfinished(id), '-inf', nowText, 'BYSCORE', 'LIMIT', 0, slots) or {}
    local guard = string.format('%d', now + delivery.guardMs)
    for _, entryId in ipairs(due) do
      redis.call('ZADD', keys.unfinished(id), guard, entryId)
      redis.call('ZADD', keys.running(id), guard, entryId)
      local made = redis.call('HGET', keys.attempts(id), entryId)
      attempts[#attempts + 1] = { id, entryId, (made and tonumber(string.match(made, '^%d+')) or 0) + 1 }
    end
    nextAt = math.min(nextAt, redis.call('ZRANGE', keys.unfinished(id), 0, 0, 'WITHSCORES')[2] or math.huge)
  end
end
count.write()
return { more, attempts, nextAt < math.huge and math.max(0, nextAt - now) or '' }
