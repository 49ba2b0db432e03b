--- Creates a mailbox.
--- @args name mode recipientId backlogLimit tail
--- @reply id createdAt
--- @include "lib/call"
--- @include "lib/id"
local replay = call.open()
if replay then return replay end
plan.needOperation()

local mailboxId = newId(tail)
-- What sends and receives read comes first: a small hash is searched from its beginning.
redis.call('HSET', keys.mailbox(mailboxId), 'ready', 0, 'claimed', 0, 'mode', mode, 'backlogLimit', backlogLimit, 'recipientId',
  recipientId, 'failed', 0, 'name', name, 'createdAt', now)
redis.call('ZADD', keys.mailboxes(), 0, mailboxId)
emit.mailbox.created(mailboxId, { mode = mode })
return call.done({ id = mailboxId, createdAt = now })
