--- @include lib/hooks group/_decide group/_group mailbox/_end mailbox/_message scope/_scope
cancels.groups = { total = 'cancelledGroups' }

--- The group whose gate is this scope, if any.
function cancels.groups.ids(scopeId, last)
  local groupId = last == '' and scope.load(scopeId, 'path', 'groupId').groupId
  return { groupId or nil }
end

--- Decides the group, which may end its members as well. Returns the number of records ended.
function cancels.groups.stop(id, cancel)
  local record = group.load(id)
  if record.state == 'DECIDED' then return 0 end
  local before = message.finishes
  group.stop(record, cancel)
  return 1 + message.finishes - before
end
