--- @include "lib/space"
--- @include "lib/streams"
--- The durable event journal of a space: one stream, one entry per event, of a single field, for each costs as much as
--- half a command: its name is the event's type, its value `aggregateId scopeId requestId`, `~` where there is none, then
--- ` name=value` for each member of the payload, `=` for the aggregate's own id. Watchers are woken once per run.
local journal = {}
--- Small numbers as text: Lua makes text of a number digit by digit, and slowly.
local digits = {}
for number = 0, 20 do digits[number] = number .. '' end

--- For `emit.<type>(aggregateId, event)` alone, which the loader makes of a room's declared events.
function journal.append(type, event)
  streams.add(keys.events(), keys.space(), type, event)
end

--- Names what held requests may wait for (src/http/hold.ts), to be said with the wake-up, on the channel that is named
--- like the space's record: `object/part` wakes one receive, the id of a record all reads that wait for its end.
function journal.wake(topic)
  streams.publish(keys.space(), topic)
end
