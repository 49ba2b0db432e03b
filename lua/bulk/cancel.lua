--- Ends RUNNING bulk work: messages that it has not reached stay as they are. Work that has ended is answered as it is.
--- @request write
--- @args bulkId
--- @reply bulk:bulk
--- @include lib/audit lib/call lib/caller bulk/_bulk
local record = bulk.read(bulkId)
if record.state ~= 'RUNNING' then return call.answer({ bulk = record }) end
bulk.finish(record, 'CANCELLED')
audit('bulk.cancelled', caller.actor(), bulkId, inSpace())
return call.answer({ bulk = record }, 'operation')
