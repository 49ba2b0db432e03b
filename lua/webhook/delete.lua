--- Deletes a destination; what it was still to get is given up. Its rows stay as long as the journal.
--- @args destinationId
--- @reply
--- @include "lib/call"
--- @include "lib/audit"
--- @include "webhook/_destination"
local replay = call.open()
if replay then return replay end
if redis.call('EXISTS', keys.destination(destinationId)) == 0 then refuse('DESTINATION_NOT_FOUND') end
plan.needOperation()
destination.exhaust(destinationId)
redis.call('DEL', keys.destination(destinationId))
redis.call('ZREM', keys.destinations(), destinationId)
if redis.call('ZCARD', keys.destinations()) == 0 then redis.call('SREM', keys.outboxSpaces(), spaceId) end
audit('destination.deleted', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), destinationId, '{}')
return call.done()
