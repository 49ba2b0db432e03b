--- @include "lib/clock"
--- The durable event journal of a space: one stream, one entry per event, every entry with the same fields so that
--- Redis stores their names once. Watchers are woken once per script, by journal.publish.
local journal = { appended = false, ready = '' }

--- type: `aggregate.what`; scopeId '' when the event has none; payload: compact JSON of ids, states and counts.
--- The entry's id carries the moment. A clock set back must not fail a half-done script, hence the second form.
function journal.append(type, aggregateId, scopeId, payload)
  local reply = redis.pcall('XADD', keys.events(), now .. '-*', 'type', type, 'aggregateId', aggregateId,
    'scopeId', scopeId, 'requestId', requestId, 'payload', payload)
  if reply.err then
    redis.call('XADD', keys.events(), '*', 'type', type, 'aggregateId', aggregateId,
      'scopeId', scopeId, 'requestId', requestId, 'payload', payload)
  end
  journal.appended = true
end

--- The wake-up names the messages that became ready (`mailboxId/scope/…/scope,`), for held receives.
function journal.publish()
  if journal.appended then redis.call('SPUBLISH', keys.events(), journal.ready) end
  journal.appended, journal.ready = false, ''
end
