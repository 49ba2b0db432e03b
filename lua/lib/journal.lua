--- @include "lib/clock"
--- @include "lib/space"
--- The durable event journal of a space: one stream, one entry per event, of a single field, for each costs as much as
--- half a command: its name is the event's type, its value `aggregateId scopeId requestId`, `~` where there is none, then
--- ` name=value` for each member of the payload, `=` for the aggregate's own id. Watchers are woken once
--- per script, by journal.publish.
local journal = {}
local entryId
--- Small numbers as text: Lua makes text of a number digit by digit, and slowly.
local digits = {}
for number = 0, 20 do digits[number] = number .. '' end

--- Texts as one. Making one of a single text would cost as much as that had.
local function joined(texts, separator)
  return texts[2] and table.concat(texts, separator) or texts[1] or ''
end

function journal.begin()
  entryId = nowText .. '-*'
  journal.appended, journal.topics = false, {}
end

--- For `emit.<type>(aggregateId, event)` alone, which the loader makes of a room's declared events.
--- The entry's id carries the moment. A clock set back must not fail a half-done script, hence the second form.
function journal.append(type, event)
  local reply = redis.pcall('XADD', keys.events(), entryId, type, event)
  if reply.err then redis.call('XADD', keys.events(), '*', type, event) end
  journal.appended = true
end

--- Names what held requests may wait for (src/http/hold.ts), to be said with the next wake-up.
function journal.wake(topic)
  journal.topics[#journal.topics + 1] = topic
end

--- The wake-up says the topics, between commas.
function journal.publish()
  if not journal.appended then return end
  redis.call('SPUBLISH', keys.events(), joined(journal.topics, ','))
  journal.appended, journal.topics = false, {}
end
