--- Extends (or shortens) the lease of a HELD hold or, without a token, the time to live of a WAITING one, which keeps
--- its place; counted from now. leaseSeconds: see lease.seconds, by default the hold's own. ttlSeconds '': the time to
--- live with which it was queued.
--- @request write
--- @space maxLeaseSeconds
--- @args holdId token leaseSeconds ttlSeconds
--- @reply hold:hold
--- @include lib/call lib/clock lib/id lib/lease lib/records lib/refuse lib/space lib/timer pool/_hold scope/_scope
local record = hold.view(holdId)
if token ~= '' then
  hold.check(record, token)
  local seconds = lease.seconds(leaseSeconds, record.leaseSeconds, keyspace.record.maxLeaseSeconds)
  records.set(record, 'leaseExpiresAt', now + seconds * 1000)
  hold.keep(record)
  return call.answer({ hold = hold.shown(record) }, 'syscall')
end
if record.state ~= 'WAITING' then refuse('HOLD_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('HOLD_NOT_WAITING', 'EXPIRED') end
if scope.cancelFor(record) then refuse('HOLD_NOT_WAITING', 'CANCELLED') end

-- Before its first renewal, a hold has no stored ttlSeconds: it is the time from its creation to expiresAt.
if not record.ttlSeconds then records.set(record, 'ttlSeconds', (record.expiresAt - momentOf(holdId)) / 1000) end
records.set(record, 'expiresAt', now + (tonumber(ttlSeconds) or record.ttlSeconds) * 1000)
timer.arm('pool:hold', holdId, record.expiresAt)
return call.answer({ hold = hold.shown(record) }, 'syscall')
