--- @include lib/refuse mailbox/_message
--- The whole message. Refuses if there is none; the tombstone of a task is not a message.
function message.whole(messageId)
  local record = message.load(messageId)
  if not record or not record.mailboxId then refuse('MESSAGE_NOT_FOUND') end
  return record
end

--- Puts the payload into the last value of a reply. The idempotent answer was stored before without it, because the
--- payload never changes.
function message.withPayload(reply, record)
  reply[#reply] = record.payload
  return reply
end
