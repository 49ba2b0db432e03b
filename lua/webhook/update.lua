--- Changes a destination; '' leaves a field as it is. Disabled, it hears nothing; enabled again, what happens from then
--- on. verdict: as in webhook/create, for a new url.
--- @args destinationId url eventTypes state verdict detail
--- @include "lib/call"
--- @include "lib/audit"
--- @include "webhook/_destination"
local replay = call.open()
if replay then return replay end
local record = destination.view(destinationId)
if not record[1] then refuse('DESTINATION_NOT_FOUND') end
local newUrl = url ~= '' and url ~= record[1]
if newUrl and verdict == '' then call.sendBack('URL_UNCHECKED') end
if newUrl and verdict ~= 'ok' then refuse('DESTINATION_URL_FORBIDDEN', verdict) end
local newTypes = eventTypes ~= '' and eventTypes ~= record[2]
local newState = state ~= '' and state ~= record[3]
if not (newUrl or newTypes or newState) then return call.unchanged(record) end
plan.needOperation()

if newUrl then redis.call('HSET', keys.destination(destinationId), 'url', url) end
if newTypes then redis.call('HSET', keys.destination(destinationId), 'eventTypes', eventTypes) end
if newState and state == 'DISABLED' then destination.disable(destinationId, 'REQUESTED') end
if newState and state == 'ACTIVE' then destination.listen(destinationId) end
audit('destination.updated', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), destinationId, detail)
return call.done(destination.view(destinationId))
