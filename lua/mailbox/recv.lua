--- Claims the oldest ready message of a scope's subtree; replies with nothing when there is none.
--- leaseSeconds '' means the shorter of 30 s and the space's longest lease. A receive makes no scope.
--- looksAgain '1': the request is held, so finding nothing answers nobody yet.
--- @args mailboxId scopeId holder holderSession leaseSeconds token looksAgain
--- @gather
--- @include "lib/call"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_ready"
--- @include "mailbox/_lease"
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
plan.needOperation()
plan.needAgent()

local id = string.sub(member, 13)
local stored = redis.call('HMGET', keys.message(id), 'scopeId', 'taskId', 'groupId', 'taskKey', 'attempts', 'deadline', 'workKey',
  'payload')
local deadline = tonumber(stored[6]) or math.huge
-- It came after the sweep that this call waited for, if for any: nobody is given what is over.
if deadline <= now and deadline > (tonumber(drainedThrough) or 0) then call.sendBack('DUE') end
local path = scope.path(stored[1])
local record = { id = id, mailboxId = mailboxId, scopeId = stored[1], taskId = message.taskIdOf(id, stored[2]), groupId = stored[3],
  state = 'READY', attempts = (tonumber(stored[5]) or 0) + 1 }
ready.remove(mailboxId, path, member, readyAt)
message.enter(record, 'CLAIMED')
local leaseExpiresAt = math.min(now + seconds * 1000, deadline)
redis.call('HSET', keys.message(id), 'state', 'CLAIMED', 'attempts', string.format('%d', record.attempts), 'token', token,
  'holder', holder, 'holderSession', holderSession, 'claimedAt', nowText, 'leaseExpiresAt', lease.hold(id, leaseExpiresAt, nextLease))
mailbox.change(box, 'ready', -1)
mailbox.change(box, 'claimed', 1)
message.tell(record, 'claimed')
if record.groupId then message.memberStarted(record) end
return call.done(id, stored[1], record.taskId, stored[3], stored[4], record.attempts, stored[6], now, leaseExpiresAt, seconds,
  token, stored[7], stored[8])
