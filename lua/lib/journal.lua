--- @include lib/decimal lib/space lib/streams
--- @export journal
--- The durable event journal of a space: one stream with one entry per event. An entry has a single field, because each
--- field costs as much as half a command. The field's name is the event's type; its value is
--- `aggregateId scopeId requestId` (`~` for none), then ` name=value` for each payload member (`=` for the aggregateId).
--- Watchers are woken once per invocation.
local journal = {}

--- The space of the last event, and the names of its stream and channel, which are made once, not for each event.
local lastSpace, stream, channel

local function enter()
  if lastSpace ~= spaceRoot then lastSpace, stream, channel = spaceRoot, keys.events(), keys.space(spaceId) end
end

--- Only for `emit.<type>(aggregateId, event)`, which the loader generates from a room's declared events; of those that are
--- counted it also adds to `events:<type>` of the space's record (lib/count).
function journal.append(type, event)
  enter()
  streams.add(stream, channel, type, event)
end

--- Publishes a topic that held requests may wait for (src/http/hold.ts) with the wake-up: `object/part` wakes one receive,
--- `object/` all of the object, the id of a record all reads that wait for its end. The channel has the name of the space's
--- record.
function journal.wake(topic)
  enter()
  streams.publish(channel, topic)
end
