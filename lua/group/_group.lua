--- @record group
--- @include lib/caller lib/clock lib/finished lib/records lib/refuse lib/sorted scope/_scope
--- A task group. Its counters are in its record, so that evaluating it costs the same for any number of members;
--- `unjudged` counts the SUCCEEDED members without a verdict.
group.maxMembers, group.maxUndecided = 100, 1000

function group.read(groupId)
  return group.load(groupId) or refuse('GROUP_NOT_FOUND')
end

--- The ids of its members, in the order in which they joined.
function group.memberIds(groupId)
  local ids, entries = {}, sorted.front(keys.groupMembers(groupId), 2 ^ 31)
  for i = 1, #entries, 2 do ids[#ids + 1] = entries[i] end
  return ids
end

--- Whether the caller may use the mailboxes of the group and of all tasks that have joined it.
function group.isVisible(record)
  if not caller.hasMailbox(record.mailboxId) then return false end
  for mailboxId in string.gmatch(record.otherMailboxes or '', '[^,]+') do
    if not caller.hasMailbox(mailboxId) then return false end
  end
  return true
end

--- Records that a task of another mailbox has joined.
function group.addMailbox(record, mailboxId)
  local others = record.otherMailboxes or ''
  if string.find(others, mailboxId, 1, true) then return end
  records.set(record, 'otherMailboxes', others == '' and mailboxId or others .. ',' .. mailboxId)
end

function group.add(record, name, change)
  records.set(record, name, record[name] + change)
end

--- Whether its deadline has passed at `at`. If so, it counts as decided, swept or not.
function group.isOverdue(record, at)
  return record.deadline and record.deadline <= at
end

--- Whether the group is undecided; false if it no longer exists.
function group.isUndecided(groupId)
  local record = group.load(groupId, 'state')
  return record and record.state ~= 'DECIDED'
end

--- Refuses new members unless the group is OPEN.
function group.needOpen(record)
  scope.needRunning(scope.path(record.scopeId))
  local state = group.isOverdue(record, now) and 'DECIDED' or record.state
  if state ~= 'OPEN' then refuse('GROUP_NOT_OPEN', state) end
end

--- Finishes a decided group once none of its members is claimed.
function group.retire(record, at)
  if record.state == 'DECIDED' and record.running == 0 then
    finished.add('group:group', record.id, string.format('%d', at))
  end
end
