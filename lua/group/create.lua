--- Creates a task group and its gate scope, a child of parentScopeId ('' for a root scope). threshold: only for
--- N_ACCEPTED, otherwise ''; deadline: epoch milliseconds or ''. If the workKey is known, replies with the group that
--- it created.
--- @request write
--- @space maxArmedTimers timers:ARMED
--- @args parentScopeId mailboxId condition threshold deadline workKey tail scopeTail
--- @reply id scopeId state known
--- @include lib/call lib/clock lib/count lib/id lib/maps lib/plan lib/records lib/refuse lib/sorted lib/space
--- @include lib/timer group/_group mailbox/_mailbox scope/_scope
local maxArmedTimers, armed = keyspace.record.maxArmedTimers, count.ofSpace(keyspace.record, 'timers:ARMED')
local known = workKey ~= '' and maps.get(keys.groupWorkKeys(), workKey)
if known then
  local first = group.load(known, 'scopeId', 'state', 'mailboxId', 'otherMailboxes')
  if not group.isVisible(first) then refuse('PERMISSION_DENIED', 'mailbox') end
  return call.answer({ id = known, scopeId = first.scopeId, state = first.state, known = 1 }, 'syscall')
end
local box = mailbox.load(mailboxId, 'mode')
if not box then refuse('MAILBOX_NOT_FOUND', 'mailboxId') end
if box.mode ~= 'WORK' then refuse('MAILBOX_MODE_INVALID') end
if deadline ~= '' and tonumber(deadline) <= now then refuse('VALIDATION_FAILED', 'deadline must be in the future') end
local isRoot = parentScopeId == ''
local parentPath = not isRoot and scope.path(parentScopeId) or nil
scope.needRunning(parentPath)
plan.needOperation()
if parentPath then
  if #parentPath >= scope.maxDepth then refuse('SCOPE_DEPTH_EXCEEDED', scope.maxDepth) end
  local undecided = scope.load(parentScopeId, 'undecidedGroups').undecidedGroups
  if undecided >= group.maxUndecided then refuse('SCOPE_CHILDREN_FULL', 'groups ' .. group.maxUndecided) end
end
if deadline ~= '' and tonumber(armed) >= tonumber(maxArmedTimers) then refuse('TIMERS_FULL', maxArmedTimers) end
scope.check(parentPath)

local record = { id = newId(tail), scopeId = newId(scopeTail), mailboxId = mailboxId, condition = condition,
  threshold = tonumber(threshold), deadline = tonumber(deadline), workKey = workKey ~= '' and workKey, createdAt = now }
if record.workKey then maps.put(keys.groupWorkKeys(), workKey, record.id) end
if not isRoot then parentPath = parentPath or scope.create(parentScopeId) end
scope.create(record.scopeId, parentPath)
records.put(keys.scope(record.scopeId), 'groupId', record.id)
if not isRoot then
  record.parentScopeId = parentScopeId
  records.add(keys.scope(parentScopeId), 'undecidedGroups', 1)
end
if record.deadline then
  count.space('timers:ARMED', 1)
  timer.arm('group:deadline', record.id, record.deadline)
end
records.add(keys.mailbox(mailboxId), 'undecidedGroups', 1)
group.insert(record)
sorted.add(keys.groups(), '0', record.id)
group.enter(record, 'OPEN')
emit.group.created(record.id, record)
return call.answer({ id = record.id, scopeId = record.scopeId, state = 'OPEN' }, 'operation')
