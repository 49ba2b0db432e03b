--- @record destination
--- @include "lib/clock"
--- @include "lib/count"
--- @include "lib/refuse"
--- Webhook destinations (contract section 5). The journal is their outbox: each holds a position in it.

function destination.read(destinationId)
  return destination.load(destinationId) or refuse('DESTINATION_NOT_FOUND')
end

--- Where one may be sent to: its url, and the secrets that sign now; nil where there is none.
function destination.target(destinationId)
  local record = destination.load(destinationId, 'state', 'url', 'signingSecret', 'previousSecret', 'previousSecretUntil')
  if not record then return nil end
  local both = record.previousSecretUntil and now < record.previousSecretUntil
  record.secrets = { record.signingSecret, both and record.previousSecret or nil }
  return record
end

--- The journal's end: the id of its last entry, and how many were ever added.
function destination.tail()
  local info, last, added = redis.call('XINFO', 'STREAM', keys.events()), '0-0', 0
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = info[i + 1] elseif info[i] == 'entries-added' then added = info[i + 1] end
  end
  return last, added
end

--- Gives up on everything that it was still to get.
function destination.exhaust(destinationId)
  local pending = redis.call('ZCARD', keys.unfinished(destinationId))
  if pending == 0 then return end
  count.add(count.space, 'outbox:PENDING', -pending)
  count.add(count.space, 'outbox:EXHAUSTED', pending)
  redis.call('DEL', keys.unfinished(destinationId), keys.running(destinationId), keys.attempts(destinationId))
end

--- reason: REQUESTED, GONE (it answered 410) or FAILING (for five days).
function destination.disable(destinationId, reason)
  destination.exhaust(destinationId)
  redis.call('HSET', keys.destination(destinationId), 'state', 'DISABLED', 'disabledReason', reason)
  emit.destination.disabled(destinationId, { state = 'DISABLED', disabledReason = reason })
end

--- It hears what happens from now on.
function destination.listen(destinationId)
  local last, added = destination.tail()
  redis.call('HSET', keys.destination(destinationId), 'state', 'ACTIVE', 'position', last, 'readCount', added, 'consecutiveFailures', 0)
  redis.call('HDEL', keys.destination(destinationId), 'disabledReason', 'failingSince')
end
