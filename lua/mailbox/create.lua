--- Creates a mailbox.
--- @args name mode recipientId backlogLimit tail
--- @include "lib/call"
--- @include "lib/id"
local replay = call.open()
if replay then return replay end
call.needOperation()

local mailboxId = newId(tail)
redis.call('HSET', keys.mailbox(mailboxId), 'name', name, 'mode', mode, 'recipientId', recipientId,
  'backlogLimit', backlogLimit, 'createdAt', now, 'ready', 0, 'claimed', 0, 'failed', 0, 'sequence', 0)
redis.call('ZADD', keys.mailboxes(), 0, mailboxId)
journal.append('mailbox.created', mailboxId, '', '"mode":"' .. mode .. '"')
return call.done(mailboxId, now)
