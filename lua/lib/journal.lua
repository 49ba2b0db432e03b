--- @include "lib/clock"
--- @include "lib/space"
--- The durable event journal of a space: one stream, one entry per event, of a single field, for each costs as much as
--- half a command: its name is the event's type, its value `aggregateId scopeId requestId members`, `~` where there is
--- none. Watchers are woken once per script, by journal.publish.
local journal = {}
local entryId

--- Texts as one. Making one of a single text would cost as much as that had.
local function joined(texts, separator)
  return texts[2] and table.concat(texts, separator) or texts[1] or ''
end

function journal.begin()
  entryId = nowText .. '-*'
  journal.appended, journal.ready = false, {}
end

--- type: `aggregate.what`; scopeId '' when the event has none; members: what its payload says beyond the ids of the
--- aggregate and the scope, as JSON members without braces (ids, states, counts).
--- The entry's id carries the moment. A clock set back must not fail a half-done script, hence the second form.
function journal.append(type, aggregateId, scopeId, members)
  local event = aggregateId .. ' ' .. (scopeId == '' and '~' or scopeId) .. ' ' .. (requestId == '' and '~' or requestId) .. ' ' .. members
  local reply = redis.pcall('XADD', keys.events(), entryId, type, event)
  if reply.err then redis.call('XADD', keys.events(), '*', type, event) end
  journal.appended = true
end

--- The wake-up names the messages that became ready (`mailboxId/scope/…/scope`, between commas), for held receives.
function journal.publish()
  if not journal.appended then return end
  redis.call('SPUBLISH', keys.events(), joined(journal.ready, ','))
  journal.appended, journal.ready = false, {}
end
