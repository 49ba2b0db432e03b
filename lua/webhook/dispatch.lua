--- The outbox of a space. Reads more of the journal for each destination with fewer than 10,000 unfinished deliveries,
--- then replies with the due attempts, a few per destination, so that a dead destination does not hold up the others.
--- An attempt is not returned again for as long as it may take. If destinations still need packed events, an invocation
--- serves one of them: Node first opens the events after its position (`opened`, event/_segments). more: whether there
--- is more to read (-1: there are no destinations); nextInMs: milliseconds until the next attempt is due ('': none is
--- unfinished).
--- @args spaceId requestId maxEntries
--- @long opened
--- @reply more attempts:dueAttempt[] nextInMs spaceNumber
--- @include lib/clock lib/count lib/records lib/sorted lib/space lib/streamId lib/streams lib/unit event/_segments
--- @include webhook/_delivery webhook/_destination
local ids = keyspace.find() and redis.call('ZRANGE', keys.destinations(), 0, -1) or {}
if not ids[1] then return { more = -1, attempts = {}, nextInMs = '', spaceNumber = '' } end
maxEntries = tonumber(maxEntries)
local last, added = streams.tail(keys.events())
local more, attempts, pages, nextAt = 0, {}, {}, math.huge
local packedThrough = redis.call('HGET', keys.space(spaceId), 'packedThrough')

local function isBehind(record)
  return packedThrough and streamId.isBefore(record.position, packedThrough)
end

local function roomOf(id)
  return 10000 - redis.call('ZCARD', keys.unfinished(id))
end

--- At most so many unfinished deliveries that no worker has, due or not.
local function waitingOf(id, most)
  local running, found = keys.running(id), {}
  for _, entryId in ipairs(redis.call('ZRANGE', keys.unfinished(id), 0, most + sorted.count(running) - 1)) do
    if #found < most and not sorted.score(running, entryId) then found[#found + 1] = entryId end
  end
  return found
end

--- Of the destinations with room, the one furthest behind comes first, so each gets its turn.
local behind
for _, id in ipairs(packedThrough and ids or {}) do
  local record = destination.load(id, 'state', 'eventTypes', 'position', 'readCount', 'consecutiveFailures', 'hurried')
  if record.state == 'ACTIVE' and isBehind(record) and roomOf(id) > 0 and
    not (behind and streamId.isBefore(behind, record.position)) then
    behind = record.position
  end
end
local page = behind and segments.page(behind, opened)
if behind and not page then error({ err = 'PACKED - ' .. behind }) end

local function entriesAfter(position)
  pages[position] = pages[position] or redis.call('XRANGE', keys.events(), '(' .. position, '+', 'COUNT', maxEntries)
  return pages[position]
end

local function readOn(record)
  local id, eventTypes = record.id, record.eventTypes
  local room, isPacked = roomOf(id), isBehind(record)
  if room <= 0 then return end
  if isPacked and record.position ~= behind then
    more = 1
    return
  end
  local entries, found = isPacked and page.entries or entriesAfter(record.position), 0
  local read = math.min(room, #entries)
  for i = 1, read do
    if destination.wants(eventTypes, entries[i][2][1]) then
      sorted.add(keys.unfinished(id), nowText, entries[i][1])
      found = found + 1
    end
  end
  if found > 0 then count.space('outbox:PENDING', found) end
  local isAll = read == #entries
  local atEnd = isAll and not isPacked and read < maxEntries
  if not atEnd then more = 1 end
  local position = isAll and (isPacked and page.through or atEnd and last) or entries[read][1]
  records.set(record, 'position', position)
  records.set(record, 'readCount', atEnd and added or record.readCount + read
    + (isAll and isPacked and page.skipped or 0))
  unit.write()
end

for _, id in ipairs(ids) do
  local record = destination.load(id, 'state', 'eventTypes', 'position', 'readCount', 'consecutiveFailures', 'hurried')
  if record.state == 'ACTIVE' then
    if record.position ~= last then readOn(record) end
    local over = redis.call('ZRANGE', keys.running(id), '-inf', nowText, 'BYSCORE', 'LIMIT', 0, 16)
    for _, entryId in ipairs(over) do sorted.remove(keys.running(id), entryId) end
    local slots = (record.consecutiveFailures > 0 and 2 or 16) - sorted.count(keys.running(id))
    local due = {}
    if slots > 0 and record.hurried then
      due = waitingOf(id, slots)
      if #due < slots then records.set(record, 'hurried', false) end
    elseif slots > 0 then
      due = redis.call('ZRANGE', keys.unfinished(id), '-inf', nowText, 'BYSCORE', 'LIMIT', 0, slots)
    end
    for _, entryId in ipairs(due) do
      delivery.guard(id, entryId)
      local progress = delivery.progress(id, entryId)
      attempts[#attempts + 1] = { destinationId = id, entryId = entryId,
        number = (progress and progress.attempts or 0) + 1 }
    end
    nextAt = math.min(nextAt, select(2, sorted.first(keys.unfinished(id))) or math.huge)
  end
end
unit.write()
return { more = more, attempts = attempts, nextInMs = nextAt < math.huge and math.max(0, nextAt - now) or '',
  spaceNumber = spaceNumber }
