--- @include "lib/clock"
--- @include "lib/count"
--- @include "lib/journal"
--- @include "webhook/_destination"
--- @include "webhook/_row"
--- Attempts to deliver (contract section 5): one row each, in one stream per space. `attempts` says of each unfinished
--- delivery how many were made, and since when one is under way: `<made> <begunAt>`.
local delivery = { mostAttempts = 10, guardMs = 25000, daysOfFailure = 5 }
local seconds = { 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400 }

--- Takes a delivery out of what is to be done; outcome: DELIVERED or EXHAUSTED.
function delivery.finish(destinationId, entryId, outcome)
  if redis.call('ZREM', keys.unfinished(destinationId), entryId) == 0 then return end
  redis.call('ZREM', keys.running(destinationId), entryId)
  redis.call('HDEL', keys.attempts(destinationId), entryId)
  count.add(count.space, 'outbox:PENDING', -1)
  count.add(count.space, 'outbox:' .. outcome, 1)
end

function delivery.succeeded(destinationId)
  redis.call('HSET', keys.destination(destinationId), 'consecutiveFailures', 0, 'lastSuccessAt', nowText)
  redis.call('HDEL', keys.destination(destinationId), 'failingSince')
end

--- What a failed attempt leads to. `pause`: the least milliseconds to wait; `scale`: of the schedule's delay, 1 = all of it.
function delivery.failed(destinationId, entryId, eventType, attempt, responseStatus, errorCode, durationMs, attemptedAt, pause, scale)
  local reason
  -- What a stopped or killed worker left undone says nothing about the receiver.
  if errorCode ~= 'INTERRUPTED' then
    redis.call('HINCRBY', keys.destination(destinationId), 'consecutiveFailures', 1)
    redis.call('HSETNX', keys.destination(destinationId), 'failingSince', nowText)
    local since = redis.call('HGET', keys.destination(destinationId), 'failingSince')
    reason = responseStatus == '410' and 'GONE' or (now - since >= delivery.daysOfFailure * 86400000 and 'FAILING')
  end
  local exhausted = attempt >= delivery.mostAttempts
  local nextAttemptAt = ''
  if not reason and not exhausted then
    local delay = errorCode == 'INTERRUPTED' and 0 or math.max(pause, math.floor(seconds[attempt] * 1000 * scale))
    nextAttemptAt = string.format('%d', now + delay)
    redis.call('ZADD', keys.unfinished(destinationId), nextAttemptAt, entryId)
    redis.call('ZREM', keys.running(destinationId), entryId)
    redis.call('HSET', keys.attempts(destinationId), entryId, attempt)
  end
  local entry = row.record(destinationId, row.eventId(entryId), eventType, attempt, 'SCHEDULED', 'FAILED', responseStatus, errorCode,
    durationMs, attemptedAt, nextAttemptAt)
  if exhausted then
    delivery.finish(destinationId, entryId, 'EXHAUSTED')
    journal.append('delivery.exhausted', row.id(entry), '', '"destinationId":"' .. destinationId
      .. '","eventId":"' .. row.eventId(entryId) .. '","attempts":' .. attempt)
  end
  if reason then destination.disable(destinationId, reason) end
  return nextAttemptAt
end
