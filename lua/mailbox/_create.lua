--- @include "lib/timer"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- Puts a new READY message into a mailbox. Every refusal has been made by then.
--- record: id, mailboxId, scopeId, attempts = 0, payload, and taskId, groupId, taskKey, workKey, deadline or nil.
function message.create(record, path)
  path = path or scope.create(record.scopeId)
  message.enter(record, 'READY')
  local sequence = ready.add(record.mailboxId, path, record.id, now)
  local set = { 'state', 'READY', 'attempts', 0, 'mailboxId', record.mailboxId, 'scopeId', record.scopeId,
    'sequence', sequence, 'readyAt', now, 'createdAt', now, 'payload', record.payload }
  for _, name in ipairs({ 'taskId', 'groupId', 'taskKey', 'workKey', 'deadline' }) do
    if record[name] then
      set[#set + 1] = name
      set[#set + 1] = record[name]
    end
  end
  redis.call('HSET', keys.message(record.id), unpack(set))
  redis.call('ZADD', keys.messages(record.mailboxId), sequence, record.id)
  if record.taskId then count.add(count.org, 'usedTasks', 1) end
  if record.workKey then redis.call('HSET', keys.workKeys(record.mailboxId), record.workKey, record.id) end
  if record.deadline then
    count.add(count.space, 'timers:ARMED', 1)
    timer.arm('mailbox:message:' .. spaceId .. ':' .. record.id, record.deadline)
  end
  count.add(count.space, 'retainedBytes', #record.payload)
  scope.addLive(path, 1)
  message.tell(record, 'sent')
end
