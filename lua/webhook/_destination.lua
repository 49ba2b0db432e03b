--- @include "lib/count"
--- @include "lib/journal"
--- Webhook destinations (contract section 5). The journal is their outbox: each holds a position in it.
local destination = {}

--- A destination's fields as they are answered, its id last.
function destination.view(destinationId)
  local record = redis.call('HMGET', keys.destination(destinationId), 'url', 'eventTypes', 'state', 'disabledReason',
    'consecutiveFailures', 'lastSuccessAt', 'createdAt')
  record[8] = destinationId
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
  journal.append('destination.disabled', destinationId, '', '"state":"DISABLED","disabledReason":"' .. reason .. '"')
end

--- It hears what happens from now on.
function destination.listen(destinationId)
  local last, added = destination.tail()
  redis.call('HSET', keys.destination(destinationId), 'state', 'ACTIVE', 'position', last, 'readCount', added, 'consecutiveFailures', 0)
  redis.call('HDEL', keys.destination(destinationId), 'disabledReason', 'failingSince')
end
