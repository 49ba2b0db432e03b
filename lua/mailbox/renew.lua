--- Extends or shortens a lease, counted from now and never beyond the message's deadline.
--- @args messageId token leaseSeconds
--- @reply leaseExpiresAt groupState
--- @gather
--- @include "lib/call"
--- @include "mailbox/_lease"
--- @include "mailbox/_claim"
local replay, maxLeaseSeconds, nextLease = call.open('maxLeaseSeconds', 'nextLease')
if replay then return replay end
local record = message.read(messageId)
checkClaim(record, token)
maxLeaseSeconds = tonumber(maxLeaseSeconds)
local seconds = tonumber(leaseSeconds) or math.min(30, maxLeaseSeconds)
if seconds > maxLeaseSeconds then refuse('LEASE_LIMIT_EXCEEDED', maxLeaseSeconds) end

records.set(record, 'leaseExpiresAt', math.min(now + seconds * 1000, record.deadline or math.huge))
lease.hold(messageId, record.leaseExpiresAt, nextLease)
return call.uncounted({ leaseExpiresAt = record.leaseExpiresAt,
  groupState = record.groupId and redis.call('HGET', keys.group(record.groupId), 'state') })
