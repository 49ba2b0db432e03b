--- @include "lib/timer"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- Puts a new READY message into a mailbox. Every refusal has been made by then.
--- record: id, mailboxId, scopeId, taskId (false for none), attempts = 0, payload, and groupId, taskKey, workKey,
--- deadline or nil. queued, sequence: the mailbox's counters of READY and of all messages so far, as read.
function message.create(record, path, queued, sequence)
  path = path or scope.create(record.scopeId)
  message.enter(record, 'READY')
  sequence = string.format('%d', sequence + 1)
  ready.add(record.mailboxId, path, record.id, now, nowText, sequence)
  redis.call('HSET', keys.mailbox(record.mailboxId), 'ready', string.format('%d', queued + 1), 'sequence', sequence)
  local set = { 'state', 'READY', 'mailboxId', record.mailboxId, 'scopeId', record.scopeId, 'sequence', sequence,
    'createdAt', nowText, 'payload', record.payload }
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
  redis.call('ZADD', keys.messages(record.mailboxId), sequence, record.id)
  redis.call('ZADD', keys.scopeMessages(record.scopeId), 0, record.id)
  if record.taskId then count.add(count.org, 'usedTasks', 1) end
  count.add(count.space, 'retainedBytes', #record.payload)
  scope.addLive(path, 1)
  message.tell(record, 'sent')
end
