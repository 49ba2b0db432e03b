--- @export segments
--- @include lib/streamId
--- The packed part of a journal. Workers turn its oldest events into segments, compressed texts that only Node can read
--- (src/event/segments.ts). The index has one entry for each, whose id is that of the segment's last event. The space's
--- packedThrough is the last packed event: those after it are in the stream. A script that needs a packed event replies
--- PACKED without having written anything; Node opens the segment and calls again with what it found, `opened`: a line that
--- says what this is, then a line for each event, `id type text`.
local segments = {}

local function described(place)
  local segment, fields = { last = place[1] }, place[2]
  for i = 1, #fields, 2 do segment[fields[i]] = fields[i + 1] end
  segment.count = tonumber(segment.count)
  return segment
end

--- At most `limit` segments whose last event is `from` (as XRANGE takes it) or later.
function segments.from(from, limit)
  local found = redis.call('XRANGE', keys.eventSegments(), from, '+', 'COUNT', limit)
  for i, place in ipairs(found) do found[i] = described(place) end
  return found
end

--- The newest segment; nil if there is none.
function segments.newest()
  local place = redis.call('XREVRANGE', keys.eventSegments(), '+', '-', 'COUNT', 1)[1]
  return place and described(place)
end

--- What Node needs to open a segment.
function segments.place(segment)
  return { segment.last, segment.first, segment.count, segment.digest, keys.eventSegment(segment.last) }
end

--- Whether the segment is still the one that Node has opened.
local function isStill(last, digest)
  local found = segments.from(last, 1)[1]
  return found and found.last == last and found.digest == digest
end

local function eventsOf(lines)
  local events = {}
  for id, type, text in string.gmatch(lines, '(%S+) (%S+) ([^\n]*)\n') do events[#events + 1] = { id, { type, text } } end
  return events
end

--- The events after a packed position: entries, the position behind them (`through`) and how many were left out because
--- their segment is damaged (`skipped`). nil if Node has not opened them: reply PACKED with `position`.
function segments.page(position, opened)
  local after, through, last, digest, skipped, lines = string.match(opened, '^(%S+) (%S+) (%S+) (%S+) (%d+)\n(.*)$')
  if after ~= position or not isStill(last, digest) then return nil end
  return { entries = eventsOf(lines), through = through, skipped = tonumber(skipped) }
end

--- An event's entry; nil if it is not in the journal. The second result says what to reply PACKED with if Node has to open
--- its segment first. packedThrough, trimmedThrough: as in the space's record.
function segments.entry(id, opened, packedThrough, trimmedThrough)
  local live = redis.call('XRANGE', keys.events(), id, id)[1]
  if live then return live end
  if not packedThrough or streamId.isBefore(packedThrough, id) or not streamId.isBefore(trimmedThrough or '0-0', id) then return nil end
  local found, last, digest, lines = string.match(opened, '^= (%S+) (%S+) (%S+)\n(.*)$')
  if found ~= id or not isStill(last, digest) then return nil, '= ' .. id end
  return eventsOf(lines)[1]
end
