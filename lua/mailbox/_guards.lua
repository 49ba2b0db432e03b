--- @include lib/caller lib/guards mailbox/_message
--- For a caller limited to mailboxes. The script itself refuses an unknown id.
guards.mailboxId, guards.resultMailboxId = caller.needMailbox, caller.needMailbox

function guards.messageId(messageId)
  local record = message.load(messageId, 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end
