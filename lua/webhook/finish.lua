--- Closes an attempt that webhook/begin opened at `attemptedAt`: its row, and what follows. errorCode '' = it succeeded;
--- pauseMs: the receiver's Retry-After; scale: the schedule's jitter, 0.9 to 1.1.
--- @args destinationId entryId eventType attempt responseStatus errorCode durationMs attemptedAt pauseMs scale
--- @reply
--- @include "lib/clock"
--- @include "lib/count"
--- @include "webhook/_delivery"
if not keyspace.find() then return end
attempt, attemptedAt = tonumber(attempt), tonumber(attemptedAt)
local progress = delivery.progress(destinationId, entryId)
local record = { destinationId = destinationId, eventType = eventType, attempt = attempt, responseStatus = responseStatus,
  errorCode = errorCode, durationMs = durationMs, attemptedAt = attemptedAt }
if progress and progress.made == attempt - 1 and progress.begunAt == attemptedAt then
  if errorCode == '' then
    delivery.attempted(record, entryId)
    delivery.finish(destinationId, entryId, 'DELIVERED')
    delivery.succeeded(destinationId)
  else
    delivery.failed(record, entryId, tonumber(pauseMs), tonumber(scale))
  end
elseif not progress and now < attemptedAt + delivery.guardMs then
  -- Disabled or deleted meanwhile: the attempt was made all the same. One that took longer has its row: INTERRUPTED.
  delivery.attempted(record, entryId)
end
unit.write()
