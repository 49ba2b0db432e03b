--- Extends (or shortens) the lease of a HELD hold, counted from now. leaseSeconds: see lease.seconds, by default the hold's
--- own.
--- @request write
--- @space maxLeaseSeconds
--- @args holdId token leaseSeconds
--- @reply leaseExpiresAt
--- @include lib/call lib/clock lib/lease lib/records lib/refuse lib/space pool/_hold
local record = hold.read(holdId) or refuse('HOLD_NOT_FOUND')
hold.check(record, token)
local seconds = lease.seconds(leaseSeconds, record.leaseSeconds, keyspace.record.maxLeaseSeconds)

records.set(record, 'leaseExpiresAt', now + seconds * 1000)
hold.keep(record)
return call.answer({ leaseExpiresAt = record.leaseExpiresAt }, 'syscall')
