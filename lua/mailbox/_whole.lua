--- @include lib/refuse mailbox/_message
--- All of a message; refuses where there is none. What is left of a task once its message has gone is none.
function message.whole(messageId)
  local record = message.load(messageId)
  if not record or not record.mailboxId then refuse('MESSAGE_NOT_FOUND') end
  return record
end

--- The reply of a call on a message, with the payload as its last value. That never changes: the idempotency record, which has
--- been made by now, does without it.
function message.withPayload(reply, record)
  reply[#reply] = record.payload
  return reply
end
