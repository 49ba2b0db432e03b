--- Gives a destination a new signing secret; for 24 hours the previous one signs too.
--- @args destinationId signingSecret
--- @reply destination:newDestination
--- @include "lib/call"
--- @include "lib/audit"
--- @include "webhook/_destination"
local replay = call.open()
if replay then return replay end
local record = destination.read(destinationId)
plan.needOperation()
redis.call('HSET', keys.destination(destinationId), 'signingSecret', signingSecret, 'previousSecret', record.signingSecret,
  'previousSecretUntil', string.format('%d', now + 86400000))
audit('destination.secret_rotated', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), destinationId, '{}')
record.signingSecret = signingSecret
return call.done({ destination = record })
