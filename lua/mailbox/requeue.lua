--- Requeues a message that ended without success. It keeps its record, its workKey and its place in its group; a past
--- deadline is cleared.
--- @args messageId delaySeconds
--- @request write
--- @reply message:changedMessage payload
--- @include lib/audit lib/call lib/caller lib/clock lib/plan lib/refuse mailbox/_mailbox mailbox/_message
--- @include mailbox/_requeue mailbox/_send mailbox/_view
local replay = call.open()
local record = message.whole(messageId)
if replay then return message.withPayload(replay, record) end
local obstacle, detail = message.obstacle(record)
if obstacle == 'MESSAGE_NOT_REQUEUABLE' then refuse('MESSAGE_NOT_REQUEUABLE', detail) end
if obstacle == 'SCOPE_CANCELLED' then refuse('SCOPE_CANCELLED') end
if obstacle == 'GROUP_DECIDED' then refuse('GROUP_DECIDED', detail .. ' member') end
if obstacle == 'VERDICT_CONFLICT' then refuse('VERDICT_CONFLICT', detail) end
if obstacle == 'PREREQUISITE_FAILED' then refuse('PREREQUISITE_FAILED', detail) end
if obstacle == 'POOL_NOT_FOUND' then refuse('POOL_NOT_FOUND', detail) end
if obstacle == 'DEPENDENTS_FULL' then refuse('DEPENDENTS_FULL', detail) end
local box = mailbox.read(record.mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
delaySeconds = tonumber(delaySeconds)
local deadline = record.deadline or 0
if deadline > now and now + delaySeconds * 1000 >= deadline then
  refuse('VALIDATION_FAILED', "delaySeconds must end before the message's deadline")
end
plan.needOperation()
capacity.forMessage(box, (deadline > now and 1 or 0) + (delaySeconds > 0 and not message.willWait(record) and 1 or 0),
  record.taskId)

message.requeue(record, box, delaySeconds)
audit('message.requeued', caller.actor(), messageId, inSpace())
return message.withPayload(call.answer({ message = message.shown(record), payload = '' }, 'operation'), record)
