--- Extends (or shortens) the lease of a HELD hold, counted from now. leaseSeconds '': the hold's own, or the space's
--- maxLeaseSeconds if that is less by now.
--- @request write
--- @space maxLeaseSeconds
--- @args holdId token leaseSeconds
--- @reply leaseExpiresAt
--- @include lib/call lib/clock lib/records lib/refuse lib/space pool/_hold
local maxLeaseSeconds = tonumber(keyspace.record.maxLeaseSeconds)
local record = hold.read(holdId) or refuse('HOLD_NOT_FOUND')
hold.check(record, token)
local seconds = tonumber(leaseSeconds) or math.min(record.leaseSeconds, maxLeaseSeconds)
if seconds > maxLeaseSeconds then refuse('LEASE_LIMIT_EXCEEDED', maxLeaseSeconds) end

records.set(record, 'leaseExpiresAt', now + seconds * 1000)
hold.keep(record)
return call.answer({ leaseExpiresAt = record.leaseExpiresAt }, 'syscall')
