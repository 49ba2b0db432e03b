--- @include lib/clock
--- @export streams streamChanges
--- The entries that this invocation adds to streams, and the messages it publishes.
local streams = {}
--- The number of entries added by this invocation (unit.changes).
local streamChanges
--- Flat lists: stream, field and value of each entry; channel and topic of each message.
local entries, added = {}, 0
local topics, published = {}, 0
--- Entries with several fields, as commands.
local longer

function streams.start()
  streamChanges, added, published, longer = 0, 0, 0, nil
end

--- Adds an entry with one field, and announces it on the channel. The entry's id carries the time.
function streams.add(stream, channel, field, value)
  streamChanges = streamChanges + 1
  if topics[published - 1] ~= channel then streams.publish(channel, '') end
  entries[added + 1], entries[added + 2], entries[added + 3], added = stream, field, value, added + 3
end

function streams.addLong(stream, ...)
  streamChanges = streamChanges + 1
  longer = longer or {}
  longer[#longer + 1] = { 'XADD', stream, nowText .. '-*', ... }
end

--- Publishes a topic to a channel; '' for none. Each invocation sends one message per channel, with all its topics
--- separated by commas.
function streams.publish(channel, topic)
  topics[published + 1], topics[published + 2], published = channel, topic, published + 2
end

function streams.isChanged(stream)
  for i = 1, added, 3 do
    if entries[i] == stream then return true end
  end
end

--- The id of the last entry ever added to a stream, and the number of entries ever added.
function streams.tail(stream)
  local last, total = '0-0', 0
  local info = redis.call('EXISTS', stream) == 1 and redis.call('XINFO', 'STREAM', stream) or {}
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      last = info[i + 1]
    elseif info[i] == 'entries-added' then
      total = info[i + 1]
    end
  end
  return last, total
end

--- The id of the next entry: the current time, or just after the last entry if the clock went back.
function streams.nextId(stream)
  local ms, sequence = string.match(streams.tail(stream), '^(%d+)-(%d+)$')
  return tonumber(ms) < now and nowText .. '-0' or ms .. '-' .. string.format('%d', sequence + 1)
end

--- The channel at position `at`, with all its topics.
local function message(at)
  local channel, found = topics[at], {}
  for i = at, published, 2 do
    if topics[i] == channel then
      if topics[i + 1] ~= '' then found[#found + 1] = topics[i + 1] end
      topics[i] = false
    end
  end
  return channel, table.concat(found, ',')
end

function streams.write()
  local id = nowText .. '-*'
  for i = 1, added, 3 do
    -- A clock that was set back must not abort the invocation in the middle of its writes.
    if redis.pcall('XADD', entries[i], id, entries[i + 1], entries[i + 2]).err then
      redis.call('XADD', entries[i], '*', entries[i + 1], entries[i + 2])
    end
  end
  for _, entry in ipairs(longer or {}) do
    if redis.pcall(unpack(entry)).err then
      entry[3] = '*'
      redis.call(unpack(entry))
    end
  end
  for i = 1, published, 2 do
    if topics[i] then redis.call('SPUBLISH', message(i)) end
  end
  added, published, longer = 0, 0, nil
end
