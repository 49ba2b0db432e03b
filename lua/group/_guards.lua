--- @include lib/caller lib/guards lib/refuse group/_group group/_task mailbox/_message
--- A caller limited to mailboxes needs all mailboxes of the group: a submit sends to the group's own mailbox, and a
--- decision ends members that joined from others.
function guards.groupId(groupId)
  local record = group.load(groupId, 'mailboxId', 'otherMailboxes')
  if record and not group.isVisible(record) then refuse('PERMISSION_DENIED', 'mailbox') end
end

--- A task outside groups has its message's id; a member task has its own.
function guards.taskId(taskId)
  local member = task.load(taskId, 'messageId')
  local record = message.load(member and member.messageId or taskId, 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end
