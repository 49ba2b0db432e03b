--- @include "lib/clock"
--- @include "lib/undo"
--- Entries that a run adds to streams, and the channels that it publishes to.
local streams = {}
local entryId
--- Entries, each as its command; and by channel the topics of its message.
local entries, channels

function streams.begin()
  entryId, entries, channels = nowText .. '-*', {}, {}
end

--- Adds an entry, of fields and values. Its id carries the moment.
function streams.add(stream, ...)
  put(entries, #entries + 1, { 'XADD', stream, entryId, ... })
end

--- Publishes to a channel, once in a run: the message says the topics, between commas. topic: nil for none.
function streams.publish(channel, topic)
  local topics = channels[channel]
  if not topics then put(channels, channel, { topic }) elseif topic then put(topics, #topics + 1, topic) end
end

function streams.isChanged(stream)
  for _, entry in ipairs(entries) do
    if entry[2] == stream then return true end
  end
end

--- The id of the last entry that a stream ever had, and how many it had.
function streams.tail(stream)
  local last, added = '0-0', 0
  local info = redis.call('EXISTS', stream) == 1 and redis.call('XINFO', 'STREAM', stream) or {}
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = info[i + 1] elseif info[i] == 'entries-added' then added = info[i + 1] end
  end
  return last, added
end

--- The id that the next entry gets: of this moment, or behind the last one where a clock went back.
function streams.nextId(stream)
  local ms, sequence = string.match(streams.tail(stream), '^(%d+)-(%d+)$')
  return tonumber(ms) < now and nowText .. '-0' or ms .. '-' .. string.format('%d', sequence + 1)
end

function streams.write()
  for _, entry in ipairs(entries) do
    -- A clock that was set back must not fail a half-written run.
    if redis.pcall(unpack(entry)).err then
      entry[3] = streams.nextId(entry[2])
      redis.call(unpack(entry))
    end
  end
  for channel, topics in pairs(channels) do redis.call('SPUBLISH', channel, table.concat(topics, ',')) end
  entries, channels = {}, {}
end
