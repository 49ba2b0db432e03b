--- @export walkJournal trimJournal
--- @include lib/hooks lib/records lib/space lib/streamId lib/unit lib/usage event/_segments retention/_stream
--- The journal has the order in which messages finished, and is kept longer than they are. So they need no index of
--- their own.

--- The entries after `after` up to the time `through`, the position that they reach, and whether there may be more; nil
--- if they are packed and Node has not opened them.
local function entriesOf(record, after, through, maxEntries, opened)
  local limit = string.format('%d', through)
  if not (record.packedThrough and streamId.isBefore(after, record.packedThrough)) then
    local entries = redis.call('XRANGE', keys.events(), '(' .. after, limit, 'COUNT', maxEntries)
    local last = entries[#entries]
    return entries, last and last[1], #entries == maxEntries
  end
  local segment = segments.from('(' .. after, 1)[1]
  if streamId.at(segment.first) > through then return {} end
  local page = segments.page(after, opened)
  if not page then return nil end
  local entries, last, more = {}, nil, true
  for _, event in ipairs(page.entries) do
    more = streamId.at(event[1]) <= through
    if not more or #entries == maxEntries then break end
    entries[#entries + 1], last = event, event[1]
  end
  return entries, #entries == #page.entries and page.through or last, more
end

--- Removes the records of events up to `through`, starting after the space's `retainedThrough`. Returns whether there
--- may be more. Sends the script back if it needs packed events, so call it before any other change.
local function walkJournal(record, through, maxEntries, opened)
  if through < 0 then return false end
  local after = record.retainedThrough or record.trimmedThrough or '0-0'
  local entries, last, more = entriesOf(record, after, through, maxEntries, opened)
  if not entries then error({ err = 'PACKED - ' .. after }) end
  if not last then return false end
  usage.enterToday(record)
  for _, event in ipairs(entries) do
    local act = retained.events[event[2][1]]
    if act then act(string.match(event[2][2], '^%S+'), tonumber((string.match(event[1], '^%d+')))) end
  end
  records.set(record, 'retainedThrough', last)
  unit.write()
  return more
end

--- Trims the entries up to `through` and stores the last trimmed id in the same step. Of packed events, drops the
--- oldest segment once all of it is that old. Returns whether there may be more.
local function trimJournal(through, maxEntries)
  local segment = segments.from('-', 1)[1]
  local last, more
  if not segment then
    last, more = trimStream(keys.events(), through, maxEntries)
  elseif streamId.at(segment.last) <= through then
    last, more = segment.last, true
    unit.command('XDEL', keys.eventSegments(), last)
    unit.delete(keys.eventSegment(last))
  end
  if last then records.put(keys.space(spaceId), 'trimmedThrough', last) end
  return more
end
