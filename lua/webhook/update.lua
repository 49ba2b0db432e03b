--- Changes a destination; '' leaves a field as it is. A disabled destination gets no events; once enabled again, it
--- gets the events from then on. verdict: see webhook/create, for a new url. detail: for the audit trail.
--- @request write
--- @args destinationId url eventTypes state verdict detail
--- @reply destination:destination
--- @include lib/again lib/audit lib/call lib/caller lib/plan lib/records lib/refuse lib/streams webhook/_destination
local record = destination.view(destinationId)
local newUrl = url ~= '' and url ~= record.url
if newUrl and verdict == '' then again('URL_UNCHECKED') end
if newUrl and verdict ~= 'ok' then refuse('DESTINATION_URL_FORBIDDEN', verdict) end
local newTypes = eventTypes ~= '' and eventTypes ~= record.eventTypes
local newState = state ~= '' and state ~= record.state
if not (newUrl or newTypes or newState) then return call.answer({ destination = record }) end
plan.needOperation()

if newUrl then records.set(record, 'url', url) end
if newTypes then records.set(record, 'eventTypes', eventTypes) end
if newState and state == 'DISABLED' then destination.disable(destinationId, 'REQUESTED') end
if newState and state == 'ACTIVE' then destination.listen(destinationId, streams.tail(keys.events())) end
audit('destination.updated', caller.actor(), destinationId, detail)
-- A disabled destination gives up what waits, and one that is enabled begins at the end.
if newState then
  record.waiting, record.oldestWaitingAt, record.unread, record.unreadIsPartial = 0, false, 0, false
end
return call.answer({ destination = record }, 'operation')
