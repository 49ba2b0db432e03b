--- @export segments
--- @include lib/streamId
--- The packed part of a journal. Workers pack its oldest events into segments, compressed texts that only Node can read
--- (src/primitives/event/segments.ts). The index has an entry for each segment, under the id of its last event. The
--- space's packedThrough is the last packed event; later events are in the stream.
---
--- A script that needs a packed event replies PACKED before it has written anything. Node opens the segment and calls
--- again with its content as `opened`: a line that says which part of the journal this is, then a line `id type text`
--- for each event.
local segments = {}

local function described(place)
  local segment, fields = { last = place[1] }, place[2]
  for i = 1, #fields, 2 do segment[fields[i]] = fields[i + 1] end
  segment.count = tonumber(segment.count)
  return segment
end

--- At most `limit` segments whose last event is at `from` (as XRANGE takes it) or later.
function segments.from(from, limit)
  local found = redis.call('XRANGE', keys.eventSegments(), from, '+', 'COUNT', limit)
  for i, place in ipairs(found) do found[i] = described(place) end
  return found
end

function segments.newest()
  local place = redis.call('XREVRANGE', keys.eventSegments(), '+', '-', 'COUNT', 1)[1]
  return place and described(place)
end

--- Where a segment is, for Node to open it.
function segments.place(segment)
  return { segment.last, segment.first, segment.count, segment.digest, keys.eventSegment(segment.last) }
end

--- Whether a segment is still the one that Node opened.
local function isStill(last, digest)
  local found = segments.from(last, 1)[1]
  return found and found.last == last and found.digest == digest
end

local function eventsOf(lines)
  local events = {}
  for id, type, text in string.gmatch(lines, '(%S+) (%S+) ([^\n]*)\n') do
    events[#events + 1] = { id, { type, text } }
  end
  return events
end

--- The events after a packed position: `entries`; `through`, the position that they reach; `skipped`, how many events
--- are missing because their segment is damaged. nil if Node has not opened them; then reply PACKED with `position`.
function segments.page(position, opened)
  local after, through, last, digest, skipped, lines = string.match(opened, '^(%S+) (%S+) (%S+) (%S+) (%d+)\n(.*)$')
  if after ~= position or not isStill(last, digest) then return nil end
  return { entries = eventsOf(lines), through = through, skipped = tonumber(skipped) }
end

--- An event's entry; nil if it is not in the journal. If Node has to open its segment first, the second result is the
--- detail for PACKED. packedThrough, trimmedThrough: from the space's record.
function segments.entry(id, opened, packedThrough, trimmedThrough)
  local live = redis.call('XRANGE', keys.events(), id, id)[1]
  if live then return live end
  if not packedThrough or streamId.isBefore(packedThrough, id)
      or not streamId.isBefore(trimmedThrough or '0-0', id) then
    return nil
  end
  local found, last, digest, lines = string.match(opened, '^= (%S+) (%S+) (%S+)\n(.*)$')
  if found ~= id or not isStill(last, digest) then return nil, '= ' .. id end
  return eventsOf(lines)[1]
end
