--- Cancels a live message and ends its claim. A message that is already CANCELLED is returned as it is.
--- @args messageId
--- @request write
--- @reply message:changedMessage payload
--- @include lib/again lib/audit lib/call lib/caller lib/clock lib/refuse mailbox/_end mailbox/_message mailbox/_others
--- @include mailbox/_view scope/_scope
local replay = call.open()
local record = message.whole(messageId)
if replay then return message.withPayload(replay, record) end
if record.state == 'CANCELLED' then
  return message.withPayload(call.answer({ message = message.shown(record), payload = '' }), record)
end
if not message.isLive(record) then refuse('MESSAGE_FINISHED', record.state) end
local changesAt = message.changesAt(record)
-- Its deadline, that of its group or the end of its lease passed after the sweep, if any, that this call waited for.
-- That end comes first.
if changesAt <= now and changesAt > (tonumber(sweptThrough) or 0) or record.groupId and members.overdue(record) then
  again('DUE')
end

-- A cancelled run has cancelled it, even if no step of the cancel has reached it.
local cancel = scope.cancelFor(record)
if cancel then
  message.stop(record, cancel)
else
  message.finish(record, 'CANCELLED', now, emit.message.cancelled, 'CANCELLED_BY_CALLER')
  audit('message.cancelled', caller.actor(), messageId, inSpace())
end
local answer = call.answer({ message = message.shown(record), payload = '' }, not cancel and 'operation' or nil)
return message.withPayload(answer, record)
