--- One attempt on request: a test of a destination, or an attempted event once more (deliveryId). Called
--- twice: first for what to send (attemptedAt ''), then with what came of it, which is kept whatever has gone meanwhile.
--- One request of an Idempotency-Key is sent at a time: another one is told nothing until that one's answer is there, or
--- its process is thought lost.
--- @args destinationId deliveryId testEventId tail attemptedAt responseStatus errorCode durationMs
--- @include "lib/call"
--- @include "lib/id"
--- @include "webhook/_delivery"
local replay = call.open()
if replay then return replay end
local eventId, eventType, attempt, trigger
if deliveryId == '' then
  eventId, eventType, attempt, trigger = testEventId ~= '' and testEventId or newId(tail), 'destination.test', 1, 'TEST'
else
  local rowEntry = row.entryOf(deliveryId)
  local found = rowEntry and row.id(rowEntry) == deliveryId and redis.call('XRANGE', keys.deliveries(), rowEntry, rowEntry)[1]
  if not found then refuse('DELIVERY_NOT_FOUND') end
  local first = cmsgpack.unpack(found[2][2])
  destinationId, eventId, eventType, attempt, trigger = first[1], first[2], first[3], first[4] + 1, 'MANUAL'
end
local target = redis.call('HMGET', keys.destination(destinationId), 'url', 'signingSecret', 'previousSecret', 'previousSecretUntil')
local entryId = eventType ~= 'destination.test' and row.entryOf(eventId)
if attemptedAt == '' then
  if not target[1] and deliveryId ~= '' then refuse('DELIVERY_NOT_FOUND') end
  if not target[1] then refuse('DESTINATION_NOT_FOUND') end
  local entry = entryId and redis.call('XRANGE', keys.events(), entryId, entryId)[1]
  if entryId and not entry then refuse('DELIVERY_NOT_FOUND') end
  plan.needOperation()
  if idempotencyDigest ~= '' and not redis.call('SET', keys.sending(idempotencyDigest), requestId, 'NX', 'PX', delivery.guardMs) then
    return call.answer()
  end
  local both = target[4] and now < tonumber(target[4])
  return call.answer(now, target[1], target[2], both and target[3] or false, eventId, destinationId, entry)
end

if idempotencyDigest ~= '' then redis.call('DEL', keys.sending(idempotencyDigest)) end
local state = errorCode == '' and 'SUCCEEDED' or 'FAILED'
if state == 'SUCCEEDED' and target[1] then
  delivery.succeeded(destinationId)
  local made = entryId and redis.call('HGET', keys.attempts(destinationId), entryId)
  -- An attempt that is under way ends the delivery by itself.
  if entryId and not (made and string.find(made, ' ', 1, true)) then delivery.finish(destinationId, entryId, 'DELIVERED') end
end
local rowId, values = row.record(destinationId, eventId, eventType, attempt, trigger, state, responseStatus, errorCode, durationMs, attemptedAt, '')
return call.done(rowId, unpack(values))
