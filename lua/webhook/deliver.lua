--- Makes everything that waits for a destination due now. The first failure ends that.
--- @request write
--- @args destinationId
--- @reply destination:destination
--- @include lib/call lib/plan lib/records webhook/_destination
local record = destination.view(destinationId)
if record.waiting == 0 then return call.answer({ destination = record }) end
plan.needOperation()
records.set(record, 'hurried', true)
return call.answer({ destination = record }, 'operation')
