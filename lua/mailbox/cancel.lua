--- Cancels a live message; its claim is lost. One that is cancelled already is answered as it is.
--- @args messageId
--- @request write
--- @reply message:changedMessage payload
--- @include lib/call lib/clock lib/refuse lib/sendBack mailbox/_finish mailbox/_live mailbox/_message mailbox/_whole mailbox/_shown
local replay = call.open()
local record = message.whole(messageId)
if replay then return message.withPayload(replay, record) end
if record.state == 'CANCELLED' then
  return message.withPayload(call.answer({ message = message.shown(record), payload = '' }), record)
end
if not message.isLive(record) then refuse('MESSAGE_FINISHED', record.state) end
local changesAt = message.changesAt(record)
-- It came after the sweep that this call waited for, if for any: what is over by then ended as it would have.
if changesAt <= now and changesAt > (tonumber(drainedThrough) or 0) then sendBack('DUE') end

message.finish(record, 'CANCELLED', now, emit.message.cancelled, 'CANCELLED_BY_CALLER')
return message.withPayload(call.answer({ message = message.shown(record), payload = '' }, 'operation'), record)
