--- @include lib/cancels group/_decide group/_group mailbox/_finish mailbox/_message scope/_scope
cancels.groups = { total = 'cancelledGroups' }

--- The group whose gate is this scope, if any.
function cancels.groups.ids(scopeId, last)
  local groupId = last == '' and scope.load(scopeId, 'path', 'groupId').groupId
  return { groupId or nil }
end

--- Ends the group's members as well, as it decides the group.
function cancels.groups.stop(id, cancel)
  local record = group.load(id)
  if record.state == 'DECIDED' then return 0 end
  local before = message.finishes
  group.stop(record, cancel)
  return 1 + message.finishes - before
end
