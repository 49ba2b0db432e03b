--- @record destination
--- @include lib/clock lib/count lib/records lib/refuse lib/sorted lib/streamId lib/streams lib/unit
--- Webhook destinations. The journal is their outbox; each has a position in it.

function destination.read(destinationId)
  return destination.load(destinationId) or refuse('DESTINATION_NOT_FOUND')
end

--- When the oldest event happened that waits to be delivered, or false. Deliveries wait the longer for their next
--- attempt the older they are, so it is among the last in line, or among the first if they were read a moment ago.
local function oldestWaitingAt(destinationId)
  local key, oldest = keys.unfinished(destinationId), math.huge
  for _, ids in ipairs({ redis.call('ZRANGE', key, 0, 99), redis.call('ZRANGE', key, 0, 99, 'REV') }) do
    for _, entryId in ipairs(ids) do oldest = math.min(oldest, tonumber(string.match(entryId, '^%d+'))) end
  end
  return oldest < math.huge and oldest
end

--- Whether a destination gets the events of a type. eventTypes: `*` or `,type,prefix.*,`.
function destination.wants(eventTypes, type)
  local aggregate = string.match(type, '^%w+')
  return aggregate ~= 'destination' and aggregate ~= 'delivery' and (eventTypes == '*'
    or string.find(eventTypes, ',' .. type .. ',', 1, true) ~= nil
      or string.find(eventTypes, ',' .. aggregate .. '.*,', 1, true) ~= nil)
end

--- Counts the wanted events among the next ones that an active destination has still to read: some hundreds, as a list
--- of 20 destinations may look at as many for each. Packed ones cannot be looked at here.
local function lookAhead(record)
  record.unread, record.unreadIsPartial = 0, false
  local last, added = streams.tail(keys.events())
  if record.state ~= 'ACTIVE' or record.position == last or added == record.readCount then return end
  local entries = redis.call('XRANGE', keys.events(), '(' .. record.position, '+', 'COUNT', 500)
  for _, entry in ipairs(entries) do
    if destination.wants(record.eventTypes, entry[2][1]) then
      record.unread = record.unread + 1
      record.oldestWaitingAt = record.oldestWaitingAt or tonumber(string.match(entry[1], '^%d+'))
    end
  end
  record.unreadIsPartial = added - record.readCount > #entries
end

--- A destination as reads show it.
function destination.view(destinationId)
  local record = destination.read(destinationId)
  record.waiting = sorted.count(keys.unfinished(destinationId))
  record.oldestWaitingAt = oldestWaitingAt(destinationId)
  lookAhead(record)
  return record
end

--- The url and the secrets that currently sign; nil if there is no such destination.
function destination.target(destinationId)
  local record = destination.load(destinationId, 'state', 'url', 'signingSecret', 'previousSecret',
    'previousSecretUntil')
  if not record then return nil end
  local both = record.previousSecretUntil and now < record.previousSecretUntil
  record.secrets = { record.signingSecret, both and record.previousSecret or nil }
  return record
end

--- Gives up all unfinished deliveries of a destination.
function destination.exhaust(destinationId)
  local pending = sorted.count(keys.unfinished(destinationId))
  if pending == 0 then return end
  count.space('outbox:PENDING', -pending)
  count.space('outbox:EXHAUSTED', pending)
  unit.delete(keys.unfinished(destinationId), keys.running(destinationId), keys.attempts(destinationId))
end

--- Disables a destination. reason: REQUESTED, GONE (it answered 410) or FAILING (for five days).
function destination.disable(destinationId, reason)
  destination.exhaust(destinationId)
  records.put(keys.destination(destinationId), 'state', 'DISABLED')
  records.put(keys.destination(destinationId), 'disabledReason', reason)
  emit.destination.disabled(destinationId, { state = 'DISABLED', disabledReason = reason })
end

--- Activates a destination from the journal entry `last` on; added: the number of entries ever added up to there.
function destination.listen(destinationId, last, added)
  local key = keys.destination(destinationId)
  records.put(key, 'state', 'ACTIVE')
  records.put(key, 'position', last)
  records.put(key, 'readCount', added)
  records.put(key, 'consecutiveFailures', 0)
  records.put(key, 'disabledReason', false)
  records.put(key, 'failingSince', false)
end
