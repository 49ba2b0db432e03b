--- @export pageOf
--- @include lib/maps lib/refuse lib/streamId event/_segments scope/_scope

--- The segments and stream entries of a page that starts with packed events. known: how many events follow the cursor
--- in the first segment; nil if Node has to find out.
local function packedPage(cursor, limit, found, known, current)
  local first = found[1]
  local page = { last = cursor, epoch = current, entries = {}, segments = { segments.place(first) } }
  if not known then
    page.last = ''
    return page
  end
  local rest, last = limit - known, first.last
  while rest > 0 do
    local more = segments.from('(' .. last, 8)
    for _, segment in ipairs(more) do
      if rest > 0 then page.segments[#page.segments + 1] = segments.place(segment) end
      rest, last = rest - segment.count, segment.last
    end
    if not more[1] then break end
  end
  if rest > 0 then page.entries = redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', rest) end
  return page
end

--- The last position before a moment. Among packed events it is the end of a segment, so up to one segment earlier.
local function positionBefore(moment, trimmedThrough)
  for _, key in ipairs({ keys.events(), keys.eventSegments() }) do
    local entry = redis.call('XREVRANGE', key, '(' .. moment .. '-0', '-', 'COUNT', 1)[1]
    if entry then return entry[1] end
  end
  return trimmedThrough
end

--- A page of the journal.
--- cursor: a stream id; '' for the oldest event kept; `latest` for new events only; `since` and epoch milliseconds for
--- events from that moment on, which may start up to one segment earlier; `scope` and a scope's id for its own events,
--- which likewise begin with its creation. Refuses if events after the cursor have been lost.
--- opened: `last digest number`, the segment that contains the cursor and how many of its events follow (-1 if it has
--- no such event); '' if Node does not know. Returns `segments`, which come first and may hold more than the page
--- needs; `entries`, which follow them; and `last`: the next cursor if the page is empty, or '' if Node has to look
--- into the first segment and call again.
local function pageOf(cursor, epoch, limit, opened, trimmedThrough, packedThrough)
  trimmedThrough = trimmedThrough or '0-0'
  local current = maps.get(keys.org(), 'epoch')
  -- The position before the first entry of the stream.
  local streamAfter = trimmedThrough
  if packedThrough and streamId.isBefore(trimmedThrough, packedThrough) then streamAfter = packedThrough end

  -- A scope is kept as long as its events, so one that does not exist has only future ones.
  local scopeId = string.match(cursor, '^scope (%S+)$')
  if scopeId then
    local record = scope.load(scopeId, 'createdAt')
    cursor = record and 'since ' .. record.createdAt or 'latest'
  end
  if cursor == 'latest' then
    local last = redis.call('XREVRANGE', keys.events(), '+', '-', 'COUNT', 1)[1]
    return { last = last and last[1] or streamAfter, epoch = current, entries = {}, segments = {} }
  end
  local since = string.match(cursor, '^since (%d+)$')
  if since then cursor, epoch = positionBefore(since, trimmedThrough), current end
  if cursor == '' then cursor = trimmedThrough elseif epoch ~= current then refuse('CURSOR_EXPIRED', 'restored') end
  limit = tonumber(limit)
  if streamAfter ~= trimmedThrough and streamId.isBefore(cursor, streamAfter) then
    if streamId.isBefore(cursor, trimmedThrough) then refuse('CURSOR_EXPIRED', 'old') end
    local found, known = segments.from(cursor, 2), nil
    local isEnd = found[1].last == cursor
    if isEnd then table.remove(found, 1) end
    if isEnd or cursor == trimmedThrough then
      known = found[1].count
    else
      local last, digest, number = string.match(opened, '^(%S+) (%S+) (%S+)$')
      if last == found[1].last and digest == found[1].digest then known = tonumber(number) end
      if known == -1 then refuse('CURSOR_EXPIRED', 'lost') end
    end
    return packedPage(cursor, limit, found, known, current)
  end
  local entries
  if cursor == streamAfter then
    entries = redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', limit)
  else
    -- A cursor is the last entry its reader has seen. If that entry is gone, later ones may be gone as well: trimmed,
    -- or lost in a failover, after which their ids may be used again.
    entries = redis.call('XRANGE', keys.events(), cursor, '+', 'COUNT', limit + 1)
    if not entries[1] or entries[1][1] ~= cursor then
      refuse('CURSOR_EXPIRED', streamId.isBefore(cursor, trimmedThrough) and 'old' or 'lost')
    end
    table.remove(entries, 1)
  end
  local last = entries[#entries]
  return { last = last and last[1] or cursor, epoch = current, entries = entries, segments = {} }
end
