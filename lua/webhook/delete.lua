--- Deletes a destination and gives up its unfinished deliveries. Its attempts are kept as long as the journal.
--- @request write
--- @args destinationId
--- @reply
--- @include lib/audit lib/call lib/caller lib/plan lib/refuse lib/sets lib/sorted lib/space lib/unit
--- @include webhook/_destination
if redis.call('EXISTS', keys.destination(destinationId)) == 0 then refuse('DESTINATION_NOT_FOUND') end
plan.needOperation()
destination.exhaust(destinationId)
unit.delete(keys.destination(destinationId))
sorted.remove(keys.destinations(), destinationId)
if sorted.count(keys.destinations()) == 0 then sets.remove(keys.outboxSpaces(), spaceId) end
audit('destination.deleted', caller.actor(), destinationId, inSpace())
return call.answer(nil, 'operation')
