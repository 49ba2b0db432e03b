--- @include lib/caller lib/guards mailbox/_message
--- For a caller that is limited to mailboxes: an id that leads nowhere is left to the script.
guards.mailboxId, guards.resultMailboxId = caller.needMailbox, caller.needMailbox

function guards.messageId(messageId)
  local record = message.load(messageId, 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end
