--- @include "lib/timer"
--- @include "scope/_scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- @include "mailbox/_mailbox"
--- Puts a new READY message into a mailbox. Every refusal has been made by then.
--- record: id, mailboxId, scopeId, taskId (false for none), payload, and groupId, taskKey, workKey, deadline or nil; with
--- state = false the table need not grow for the state. box: the mailbox's record.
function message.create(record, path, box)
  path = path or scope.create(record.scopeId)
  message.enter(record, 'READY')
  mailbox.change(box, 'ready', 1)
  ready.add(record.mailboxId, path, record.id, now, nowText)
  local set = { 'state', 'READY', 'mailboxId', record.mailboxId, 'scopeId', record.scopeId, 'payload', record.payload }
  if record.taskId ~= record.id then set[#set + 1], set[#set + 2] = 'taskId', record.taskId or '' end
  if record.groupId then
    set[#set + 1], set[#set + 2], set[#set + 3], set[#set + 4] = 'groupId', record.groupId, 'taskKey', record.taskKey
  end
  if record.workKey then
    set[#set + 1], set[#set + 2] = 'workKey', record.workKey
    redis.call('HSET', keys.workKeys(record.mailboxId), record.workKey, record.id)
  end
  if record.deadline then
    set[#set + 1], set[#set + 2] = 'deadline', record.deadline
    count.add(count.space, 'timers:ARMED', 1)
    timer.arm('mailbox:message:' .. spaceId .. ':' .. record.id, record.deadline)
  end
  redis.call('HSET', keys.message(record.id), unpack(set))
  later.enter(keys.messages(record.mailboxId), '0', record.id)
  later.enter(keys.scopeMessages(record.scopeId), '0', record.id)
  if record.taskId then count.add(count.org, 'usedTasks', 1) end
  count.add(count.space, 'retainedBytes', #record.payload)
  scope.addLive(path, 1)
  emit.message.sent(record.id, record)
end
