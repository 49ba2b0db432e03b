--- Bulk work, as it stands.
--- @request read
--- @args bulkId
--- @reply bulk:bulk
--- @include lib/call bulk/_bulk
return call.answer({ bulk = bulk.read(bulkId) })
