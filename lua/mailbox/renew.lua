--- Extends (or shortens) a lease, counted from now, never beyond the message's deadline or the time of its attempt.
--- progress: JSON text for the next attempt; '' leaves it as it is.
--- @request write
--- @space maxLeaseSeconds nextLease
--- @args messageId token leaseSeconds
--- @long progress
--- @reply leaseExpiresAt groupState
--- @gather
--- @include lib/call lib/clock lib/lease lib/records lib/refuse lib/space group/_group mailbox/_attemptLimit
--- @include mailbox/_claim mailbox/_message mailbox/_reports
local maxLeaseSeconds, nextLease = keyspace.record.maxLeaseSeconds, tonumber(keyspace.record.nextLease)
local record = message.read(messageId)
checkClaim(record, token)
local seconds = lease.seconds(leaseSeconds, 30, maxLeaseSeconds)

records.set(record, 'leaseExpiresAt', math.min(now + seconds * 1000, record.deadline or math.huge,
  attemptLimit.endOf(record)))
if #progress > 4096 then refuse('PAYLOAD_TOO_LARGE', 'progress 4096') end
if progress ~= '' then
  message.keep(record, 'progress', progress)
  if reports.mayMatter() then reports.tell(record) end
end
lease.hold('mailbox:lease', keys.claims(), messageId, record.leaseExpiresAt, nextLease)
return call.answer({ leaseExpiresAt = record.leaseExpiresAt,
  groupState = record.groupId and group.load(record.groupId, 'state').state }, 'syscall')
