--- Closes an attempt that webhook/begin opened at `attemptedAt`: its row, and what follows. errorCode '' = it succeeded;
--- pauseMs: the receiver's Retry-After; scale: the schedule's jitter, 0.9 to 1.1.
--- @args destinationId entryId eventType attempt responseStatus errorCode durationMs attemptedAt pauseMs scale
--- @include "lib/clock"
--- @include "lib/count"
--- @include "webhook/_delivery"
attempt = tonumber(attempt)
local under = redis.call('HGET', keys.attempts(destinationId), entryId)
if under == (attempt - 1) .. ' ' .. attemptedAt then
  if errorCode == '' then
    row.record(destinationId, row.eventId(entryId), eventType, attempt, 'SCHEDULED', 'SUCCEEDED', responseStatus, '', durationMs, attemptedAt, '')
    delivery.finish(destinationId, entryId, 'DELIVERED')
    delivery.succeeded(destinationId)
  else
    delivery.failed(destinationId, entryId, eventType, attempt, responseStatus, errorCode, durationMs, attemptedAt,
      tonumber(pauseMs), tonumber(scale))
  end
elseif not under and now < attemptedAt + delivery.guardMs then
  -- Disabled or deleted meanwhile: the attempt was made all the same. One that took longer has its row: INTERRUPTED.
  row.record(destinationId, row.eventId(entryId), eventType, attempt, 'SCHEDULED', errorCode == '' and 'SUCCEEDED' or 'FAILED', responseStatus,
    errorCode, durationMs, attemptedAt, '')
end
count.write()
journal.publish()
return {}
