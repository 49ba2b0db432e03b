--- Claims the oldest ready message of a scope's subtree; replies with nothing if there is none. Does not create the scope.
--- leaseSeconds '': 30 seconds, or the space's maxLeaseSeconds if that is less. looksAgain '1': the request is held, so
--- finding nothing does not answer it yet.
--- @args mailboxId scopeId holder holderSession leaseSeconds token looksAgain
--- @reply claim:claim
--- @gather
--- @include "lib/call"
--- @include "scope/_scope"
--- @include "mailbox/_message"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_ready"
--- @include "mailbox/_lease"
--- @include "mailbox/_skip"
--- @include "group/_member"
local _, maxLeaseSeconds, nextLease = call.open('maxLeaseSeconds', 'nextLease', 'messages:READY', 'messages:CLAIMED')
local box = mailbox.read(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
if box.mode == 'INBOX' and box.recipientId ~= '' and box.recipientId ~= holder then refuse('RECIPIENT_MISMATCH') end
maxLeaseSeconds = tonumber(maxLeaseSeconds)
local seconds = tonumber(leaseSeconds) or math.min(30, maxLeaseSeconds)
if seconds > maxLeaseSeconds then refuse('LEASE_LIMIT_EXCEEDED', maxLeaseSeconds) end

local member, readyAt = ready.first(mailboxId, scopeId)
if not member then return looksAgain == '' and call.uncounted() or call.answer() end
local id = string.sub(member, -36)
local record = message.load(id, 'scopeId', 'taskId', 'groupId', 'taskKey', 'attempts', 'deadline', 'workKey', 'payload')
local path = scope.path(record.scopeId)
if scope.cancelOf(path) then
  if scope.cancelOf(path, scopeId) then return looksAgain == '' and call.uncounted() or call.answer() end
  skip.cancelled(mailboxId, scopeId)
  call.keep()
  call.sendBack('DUE')
end
plan.needOperation()
plan.needAgent()

local deadline = record.deadline or math.huge
-- The deadline passed after the sweep that this call waited for, if any: an expired message is never handed out.
if deadline <= now and deadline > (tonumber(drainedThrough) or 0) then call.sendBack('DUE') end
ready.remove(mailboxId, path, member, readyAt)
record.mailboxId, record.state, record.leaseSeconds = mailboxId, 'READY', seconds
message.enter(record, 'CLAIMED')
records.set(record, 'attempts', record.attempts + 1)
records.set(record, 'token', token)
records.set(record, 'holder', holder)
records.set(record, 'holderSession', holderSession)
records.set(record, 'claimedAt', now)
records.set(record, 'leaseExpiresAt', math.min(now + seconds * 1000, deadline))
lease.hold(id, record.leaseExpiresAt, nextLease)
records.set(box, 'ready', box.ready - 1)
records.set(box, 'claimed', box.claimed + 1)
emit.message.claimed(id, record)
if record.groupId then message.memberStarted(record) end
return call.done({ claim = record })
