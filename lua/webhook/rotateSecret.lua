--- Gives a destination a new signing secret. The previous one also signs for another 24 hours.
--- @request write
--- @args destinationId signingSecret
--- @reply destination:newDestination
--- @include lib/audit lib/call lib/caller lib/clock lib/plan lib/records webhook/_destination
local record = destination.view(destinationId)
plan.needOperation()
records.set(record, 'previousSecret', record.signingSecret)
records.set(record, 'previousSecretUntil', now + 86400000)
records.set(record, 'signingSecret', signingSecret)
audit('destination.secret_rotated', caller.actor(), destinationId, inSpace())
return call.answer({ destination = record }, 'operation')
