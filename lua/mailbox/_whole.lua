--- @include lib/refuse mailbox/_message
--- The whole message. Refuses if there is none; the tombstone of a task is not a message.
function message.whole(messageId)
  local record = message.load(messageId)
  if not record or not record.mailboxId then refuse('MESSAGE_NOT_FOUND') end
  return record
end

--- Puts the payload into the last value of a reply. As the payload never changes, the stored idempotent answer, made before,
--- does without it.
function message.withPayload(reply, record)
  reply[#reply] = record.payload
  return reply
end
