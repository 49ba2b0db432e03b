--- Gives a destination a new signing secret; for 24 hours the previous one signs too.
--- @args destinationId signingSecret
--- @include "lib/call"
--- @include "lib/audit"
--- @include "webhook/_destination"
local replay = call.open()
if replay then return replay end
local previous = redis.call('HGET', keys.destination(destinationId), 'signingSecret')
if not previous then refuse('DESTINATION_NOT_FOUND') end
plan.needOperation()
redis.call('HSET', keys.destination(destinationId), 'signingSecret', signingSecret, 'previousSecret', previous,
  'previousSecretUntil', string.format('%d', now + 86400000))
audit('destination.secret_rotated', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), destinationId, '{}')
return call.done(destination.view(destinationId), signingSecret)
