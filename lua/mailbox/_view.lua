--- @include mailbox/_mailbox mailbox/_oldest
--- A mailbox as reads show it; nil if there is no such mailbox.
function mailbox.view(mailboxId)
  local record = mailbox.load(mailboxId)
  if record then record.oldestReadyAt = oldest.readyOf(mailboxId, 16) end
  return record
end
