--- @include "lib/clock"
--- @include "lib/space"
--- The durable event journal of a space: one stream, one entry per event, every entry with the same fields so that
--- Redis stores their names once. Watchers are woken once per script, by journal.publish.
local journal = {}

function journal.begin()
  journal.appended, journal.ready = false, ''
end

--- type: `aggregate.what`; scopeId '' when the event has none; members: what its payload says beyond the ids of the
--- aggregate and the scope, as JSON members without braces (ids, states, counts).
--- The entry's id carries the moment. A clock set back must not fail a half-done script, hence the second form.
function journal.append(type, aggregateId, scopeId, members)
  local reply = redis.pcall('XADD', keys.events(), nowText .. '-*', 'type', type, 'aggregateId', aggregateId,
    'scopeId', scopeId, 'requestId', requestId, 'payload', members)
  if reply.err then
    redis.call('XADD', keys.events(), '*', 'type', type, 'aggregateId', aggregateId,
      'scopeId', scopeId, 'requestId', requestId, 'payload', members)
  end
  journal.appended = true
end

--- The wake-up names the messages that became ready (`mailboxId/scope/…/scope,`), for held receives.
function journal.publish()
  if journal.appended then redis.call('SPUBLISH', keys.events(), journal.ready) end
  journal.appended, journal.ready = false, ''
end
