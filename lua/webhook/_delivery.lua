--- @export delivery
--- @include lib/clock lib/count lib/maps lib/records lib/sorted webhook/_destination webhook/_row
--- Delivery attempts: one row each, in one stream per space.
local delivery = { maxAttempts = 10, guardMs = 25000, maxFailureDays = 5 }
local seconds = { 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400 }

--- The number of finished attempts of an unfinished delivery, and the start of the one in progress, if any; nil if none
--- was started.
function delivery.progress(destinationId, entryId)
  local text = maps.get(keys.attempts(destinationId), entryId)
  if not text then return nil end
  local attempts, begunAt = string.match(text, '^(%d+) ?(%d*)$')
  return { attempts = tonumber(attempts), begunAt = tonumber(begunAt) }
end

local function setProgress(destinationId, entryId, attempts, begunAt)
  maps.put(keys.attempts(destinationId), entryId, begunAt and attempts .. ' ' .. begunAt or attempts)
end

--- Reserves a delivery, for as long as an attempt may take, for the worker that received or started it.
function delivery.guard(destinationId, entryId)
  local untilText = string.format('%d', now + delivery.guardMs)
  sorted.add(keys.unfinished(destinationId), untilText, entryId)
  sorted.add(keys.running(destinationId), untilText, entryId)
end

function delivery.open(destinationId, entryId, attempts)
  setProgress(destinationId, entryId, attempts, nowText)
  delivery.guard(destinationId, entryId)
end

--- Removes a finished delivery from the outbox; outcome: DELIVERED or EXHAUSTED.
function delivery.finish(destinationId, entryId, outcome)
  if not sorted.score(keys.unfinished(destinationId), entryId) then return end
  sorted.remove(keys.unfinished(destinationId), entryId)
  sorted.remove(keys.running(destinationId), entryId)
  maps.remove(keys.attempts(destinationId), entryId)
  count.space('outbox:PENDING', -1)
  count.space('outbox:' .. outcome, 1)
end

--- Records a success. A receiver that failed before is back: all that waits is due now. isTest: it got no event, so
--- only the first delivery ends its failures.
function delivery.succeeded(destinationId, isTest)
  local receiver = destination.load(destinationId, 'consecutiveFailures', 'failingSince')
  records.set(receiver, 'lastSuccessAt', now)
  if receiver.consecutiveFailures == 0 then return end
  records.set(receiver, 'hurried', true)
  if isTest then return end
  records.set(receiver, 'consecutiveFailures', 0)
  records.set(receiver, 'failingSince', false)
end

--- Writes the row of a scheduled attempt.
function delivery.attempted(record, entryId)
  record.eventId, record.trigger = row.eventId(entryId), 'SCHEDULED'
  record.state = record.errorCode == '' and 'SUCCEEDED' or 'FAILED'
  row.write(record)
end

--- Records a failed attempt and schedules the next one. record: its row; pause: the minimum wait in milliseconds;
--- scale: a factor for the schedule's delay. Returns the time of the next attempt; nil if there is none.
function delivery.failed(record, entryId, pause, scale)
  local destinationId, attempt, reason = record.destinationId, record.attempt, nil
  -- An attempt cut off by the end of its worker says nothing about the receiver.
  if record.errorCode ~= 'INTERRUPTED' then
    local receiver = destination.load(destinationId, 'consecutiveFailures', 'failingSince', 'hurried')
    if receiver.hurried then records.set(receiver, 'hurried', false) end
    records.set(receiver, 'consecutiveFailures', receiver.consecutiveFailures + 1)
    if not receiver.failingSince then records.set(receiver, 'failingSince', now) end
    local failedMs = now - receiver.failingSince
    reason = record.responseStatus == '410' and 'GONE' or (failedMs >= delivery.maxFailureDays * 86400000 and 'FAILING')
  end
  local exhausted = attempt >= delivery.maxAttempts
  if not reason and not exhausted then
    local delay = record.errorCode == 'INTERRUPTED' and 0
      or math.max(pause, math.floor(seconds[attempt] * 1000 * scale))
    record.nextAttemptAt = string.format('%d', now + delay)
    sorted.add(keys.unfinished(destinationId), record.nextAttemptAt, entryId)
    sorted.remove(keys.running(destinationId), entryId)
    setProgress(destinationId, entryId, attempt)
  end
  delivery.attempted(record, entryId)
  if exhausted then
    delivery.finish(destinationId, entryId, 'EXHAUSTED')
    emit.delivery.exhausted(record.id, { destinationId = destinationId, eventId = record.eventId, attempts = attempt })
  end
  if reason then destination.disable(destinationId, reason) end
  return record.nextAttemptAt
end
