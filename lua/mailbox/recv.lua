--- Claims the oldest ready message of a scope's subtree; replies with nothing when there is none.
--- leaseSeconds '' means the shorter of 30 s and the space's longest lease. A receive makes no scope.
--- @args mailboxId scopeId holder holderSession leaseSeconds token
--- @include "lib/call"
--- @include "lib/timer"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
local _, maxLeaseSeconds = call.open('maxLeaseSeconds')
local mailbox = redis.call('HMGET', keys.mailbox(mailboxId), 'mode', 'recipientId')
if not mailbox[1] then refuse('MAILBOX_NOT_FOUND') end
if mailbox[1] == 'INBOX' and mailbox[2] ~= '' and mailbox[2] ~= holder then refuse('RECIPIENT_MISMATCH') end
maxLeaseSeconds = tonumber(maxLeaseSeconds)
local seconds = tonumber(leaseSeconds) or math.min(30, maxLeaseSeconds)
if seconds > maxLeaseSeconds then refuse('LEASE_LIMIT_EXCEEDED', maxLeaseSeconds) end

local member = redis.call('ZRANGE', keys.ready(mailboxId, scopeId), 0, 0)[1]
if not member then return call.uncounted() end
call.needOperation()
local agents, used = unpack(redis.call('HMGET', keys.org(), 'agents', 'usedAgents'))
if tonumber(agents) and (tonumber(used) or 0) >= tonumber(agents) then refuse('CONCURRENCY_LIMITED', agents) end

local record = message.read(string.sub(member, 13))
ready.remove(mailboxId, scope.path(record.scopeId), member, record.readyAt)
message.enter(record, 'CLAIMED')
record.attempts = record.attempts + 1
local leaseExpiresAt = math.min(now + seconds * 1000, record.deadline or math.huge)
redis.call('HSET', keys.message(record.id), 'state', 'CLAIMED', 'attempts', record.attempts, 'token', token, 'holder', holder,
  'holderSession', holderSession, 'claimedAt', now, 'leaseExpiresAt', leaseExpiresAt)
redis.call('HINCRBY', keys.mailbox(mailboxId), 'claimed', 1)
timer.arm('mailbox:message:' .. spaceId .. ':' .. record.id, leaseExpiresAt)
message.tell(record, 'claimed')
local kept = redis.call('HMGET', keys.message(record.id), 'workKey', 'payload', 'createdAt')
return call.done(record.id, record.scopeId, record.taskId, record.groupId, record.taskKey, record.attempts, record.deadline or false,
  now, leaseExpiresAt, seconds, token, kept[1], kept[2], kept[3])
