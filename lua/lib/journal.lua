--- @include lib/decimal lib/space lib/streams
--- @export journal
--- The durable event journal of a space: one stream with one entry per event. An entry has a single field, because each
--- field costs as much as half a command. The field's name is the event's type; its value is
--- `aggregateId scopeId requestId` (`~` for none), then ` name=value` for each payload member (`=` for the
--- aggregateId). Watchers are woken once per invocation.
local journal = {}

--- The space of the last event, with the names of its stream and channel, which are cached.
local lastSpace, stream, channel

local function enter()
  if lastSpace ~= spaceRoot then lastSpace, stream, channel = spaceRoot, keys.events(), keys.space(spaceId) end
end

--- Called only by `emit.<type>(aggregateId, event)`, which the loader generates from a room's declared events. For an
--- event that is counted, it also adds to `events:<type>` in the space's record (lib/count).
function journal.append(type, event)
  enter()
  streams.add(stream, channel, type, event)
end

--- Publishes, with the wake-up, a topic that held requests wait for (src/engine/route/long-poll.ts): `object/part`
--- wakes one receive, `object/` every receive of the object, a record's id every read that waits for its end. The
--- channel is named after the key of the space's record.
function journal.wake(topic)
  enter()
  streams.publish(channel, topic)
end
