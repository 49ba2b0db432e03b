--- Creates a mailbox.
--- @args name mode recipientId backlogLimit maxAttempts retryDelaySeconds maxRetryDelaySeconds tail
--- @reply id createdAt
--- @include "lib/call"
--- @include "lib/id"
--- @include "mailbox/_mailbox"
local replay = call.open()
if replay then return replay end
plan.needOperation()

local mailboxId = newId(tail)
mailbox.insert({ id = mailboxId, ready = 0, claimed = 0, mode = mode, backlogLimit = backlogLimit,
  maxAttempts = tonumber(maxAttempts), retryDelaySeconds = tonumber(retryDelaySeconds),
  maxRetryDelaySeconds = tonumber(maxRetryDelaySeconds), recipientId = recipientId, failed = 0, name = name, createdAt = now })
sorted.add(keys.mailboxes(), '0', mailboxId)
emit.mailbox.created(mailboxId, { mode = mode })
return call.done({ id = mailboxId, createdAt = now })
