--- @include lib/refuse mailbox/_message
--- All of a message; refuses where there is none. A tombstone of a task is no message.
function message.whole(messageId)
  local record = message.load(messageId)
  if not record or not record.mailboxId then refuse('MESSAGE_NOT_FOUND') end
  return record
end

--- The reply of a call on a message, with the payload as its last value. The payload never changes: the
--- idempotency record, made by now, does without it.
function message.withPayload(reply, record)
  reply[#reply] = record.payload
  return reply
end
