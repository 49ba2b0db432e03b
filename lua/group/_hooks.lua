--- @include lib/caller lib/guards lib/hooks lib/refuse group/_group group/_task group/_view mailbox/_message
--- @include scope/_scope
--- What the room adds to the work of others: see lib/hooks.

inRun.groups = {}

--- The group whose gate is this scope, if any.
local function groupOf(scopeId)
  local record = scope.load(scopeId, 'path', 'groupId')
  return record and record.groupId
end

function inRun.groups.ids(scopeId)
  return { groupOf(scopeId) or nil }
end

--- A gate scope is kept as long as its group.
function inRun.groups.holds(scopeId)
  return groupOf(scopeId)
end

--- A group with its members, without outcomes; the number of members; and whether all of them could be read.
function inRun.groups.row(id)
  local record, isWhole = group.summary(group.withMembers({ group.load(id) })[1])
  return rows.taskGroupSummary(record), #record.tasks, isWhole
end

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
