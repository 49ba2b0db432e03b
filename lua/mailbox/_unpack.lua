--- @include lib/sorted mailbox/_mailbox mailbox/_message

--- Gives a packed message a record again, so that it can change. record: as loaded; the record of a message that is not
--- packed stays as it is.
function message.unpack(record)
  if not record.isPacked then return end
  message.load(record.id)
  record.isPacked, record.changed = nil, nil
  message.insert(record)
  record.isSet = true
  sorted.add(keys.messages(record.mailboxId), '0', record.id)
  mailbox.letGo(record.mailboxId, -1)
  sorted.add(keys.unpackedMessages(), '0', record.id)
end
