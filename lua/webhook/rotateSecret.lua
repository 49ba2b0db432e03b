--- Gives a destination a new signing secret; the previous one also signs for 24 hours.
--- @args destinationId signingSecret
--- @reply destination:newDestination
--- @include "lib/call"
--- @include "lib/audit"
--- @include "webhook/_destination"
local replay = call.open()
if replay then return replay end
local record = destination.read(destinationId)
plan.needOperation()
records.set(record, 'previousSecret', record.signingSecret)
records.set(record, 'previousSecretUntil', now + 86400000)
records.set(record, 'signingSecret', signingSecret)
audit('destination.secret_rotated', caller.keyId(), destinationId, '{}')
return call.done({ destination = record })
