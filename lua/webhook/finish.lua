--- Finishes an attempt that webhook/begin started at `attemptedAt`: writes its row, ends or reschedules the delivery.
--- errorCode '': success; pauseMs: the receiver's Retry-After; scale: the schedule's jitter, 0.9 to 1.1.
--- @args spaceId requestId destinationId entryId eventType attempt responseStatus errorCode durationMs attemptedAt
--- @args pauseMs scale
--- @reply
--- @include lib/clock lib/space lib/unit webhook/_delivery
if not keyspace.find() then return end
attempt, attemptedAt = tonumber(attempt), tonumber(attemptedAt)
local progress = delivery.progress(destinationId, entryId)
local record = { destinationId = destinationId, eventType = eventType, attempt = attempt,
  responseStatus = responseStatus, errorCode = errorCode, durationMs = durationMs, attemptedAt = attemptedAt }
if progress and progress.attempts == attempt - 1 and progress.begunAt == attemptedAt then
  if errorCode == '' then
    delivery.attempted(record, entryId)
    delivery.finish(destinationId, entryId, 'DELIVERED')
    delivery.succeeded(destinationId)
  else
    delivery.failed(record, entryId, tonumber(pauseMs), tonumber(scale))
  end
elseif not progress and now < attemptedAt + delivery.guardMs then
  -- The destination was disabled or deleted, but the attempt was made. If it took too long, it is already recorded as
  -- INTERRUPTED.
  delivery.attempted(record, entryId)
end
unit.write()
