--- Makes one attempt on request: a test of a destination, or the event of an earlier attempt again (deliveryId). It is
--- called twice: first to get the event, url and secrets (attemptedAt ''), then with the outcome, which is stored even
--- if the destination is gone by then. Of a caller's requests with the same Idempotency-Key only one sends at a time;
--- the others get an empty reply until it is answered or its process counts as lost. opened: the event, if it is packed
--- (event/_segments).
--- @request write
--- @space packedThrough trimmedThrough
--- @args destinationId deliveryId testEventId tail attemptedAt responseStatus errorCode durationMs
--- @long opened
--- @reply sending:sending delivery:delivery
--- @include lib/again lib/call lib/clock lib/id lib/idempotency lib/plan lib/refuse lib/space lib/unit event/_segments
--- @include webhook/_delivery webhook/_destination webhook/_row
local packedThrough, trimmedThrough = keyspace.record.packedThrough, keyspace.record.trimmedThrough
local record
if deliveryId == '' then
  record = { destinationId = destinationId, eventId = testEventId ~= '' and testEventId or newId(tail),
    eventType = 'destination.test', attempt = 1, trigger = 'TEST' }
else
  local rowEntry = row.entryOf(deliveryId)
  local found = rowEntry and row.id(rowEntry) == deliveryId
    and redis.call('XRANGE', keys.deliveries(), rowEntry, rowEntry)[1]
  if not found then refuse('DELIVERY_NOT_FOUND') end
  record = row.unpack(found)
  record.attempt, record.trigger, record.nextAttemptAt = record.attempt + 1, 'MANUAL', ''
  destinationId = record.destinationId
end
local target = destination.target(destinationId)
local sending = idempotencyDigest ~= '' and keys.sending(idempotency.named(idempotencyDigest))
local entryId = record.eventType ~= 'destination.test' and row.entryOf(record.eventId)
if attemptedAt == '' then
  if not target and deliveryId ~= '' then refuse('DELIVERY_NOT_FOUND') end
  if not target then refuse('DESTINATION_NOT_FOUND') end
  local entry, wanted
  if entryId then entry, wanted = segments.entry(entryId, opened, packedThrough, trimmedThrough) end
  if wanted then again('PACKED', wanted) end
  if entryId and not entry then refuse('DELIVERY_NOT_FOUND') end
  plan.needOperation()
  if sending then
    if redis.call('EXISTS', sending) == 1 then return call.answer(nil, 'unfinished') end
    unit.command('SET', sending, requestId, 'PX', delivery.guardMs)
  end
  target.at, target.eventId, target.destinationId, target.entry = now, record.eventId, destinationId, entry
  return call.answer({ sending = target }, 'unfinished')
end

if sending then unit.delete(sending) end
record.state = errorCode == '' and 'SUCCEEDED' or 'FAILED'
record.responseStatus, record.errorCode, record.durationMs, record.attemptedAt = responseStatus, errorCode, durationMs,
  attemptedAt
if errorCode == '' and target then
  delivery.succeeded(destinationId, record.trigger == 'TEST')
  local progress = entryId and delivery.progress(destinationId, entryId)
  -- An attempt in progress ends the delivery itself.
  if entryId and not (progress and progress.begunAt) then delivery.finish(destinationId, entryId, 'DELIVERED') end
end
return call.answer({ delivery = row.write(record) }, 'operation')
