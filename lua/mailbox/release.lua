--- Takes a claim away from its holder, whoever that is, and returns the message to its mailbox as a nack with retry
--- does.
--- @args messageId
--- @request write
--- @reply message:changedMessage payload
--- @include lib/again lib/audit lib/call lib/caller lib/clock lib/date lib/refuse mailbox/_claim mailbox/_end
--- @include mailbox/_message mailbox/_others mailbox/_return mailbox/_view scope/_scope
local replay = call.open()
local record = message.whole(messageId)
if replay then return message.withPayload(replay, record) end
if record.state ~= 'CLAIMED' then refuse('MESSAGE_NOT_CLAIMED', message.stateNow(record)) end
if scope.cancelFor(record) then refuse('MESSAGE_NOT_CLAIMED', 'CANCELLED') end
-- As for a cancel: what has passed after the sweep comes first.
local changesAt = message.changesAt(record)
if changesAt <= now and changesAt > (tonumber(sweptThrough) or 0) or record.groupId and members.overdue(record) then
  again('DUE')
end

attempts.keep(record, now, 'RELEASED')
message.keep(record, 'lastError',
  'the claim was released by an operator at ' .. isoOf(now) .. ' (holder ' .. record.holder .. ')')
message.needTrace(record)
emit.message.released(messageId, record)
message.retry(record, now)
audit('message.released', caller.actor(), messageId, inSpace())
return message.withPayload(call.answer({ message = message.shown(record), payload = '' }, 'operation'), record)
