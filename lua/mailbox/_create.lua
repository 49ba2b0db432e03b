--- @include "lib/timer"
--- @include "scope/_scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- @include "mailbox/_mailbox"
--- Adds a new READY message to a mailbox.
--- record: id, mailboxId, scopeId, taskId (false for none), payload; groupId, taskKey, workKey, deadline or nil. With
--- `state = false` in it, the table has room for the state already. box: the mailbox's record.
function message.create(record, path, box)
  path = path or scope.create(record.scopeId)
  message.insert(record)
  message.enter(record, 'READY')
  records.set(box, 'ready', box.ready + 1)
  ready.add(record.mailboxId, path, record.id, now, nowText)
  if record.workKey then maps.put(keys.workKeys(record.mailboxId), record.workKey, record.id) end
  if record.deadline then
    count.space('timers:ARMED', 1)
    timer.arm('mailbox:message', record.id, record.deadline)
  end
  sorted.add(keys.messages(record.mailboxId), '0', record.id)
  sorted.add(keys.scopeMessages(record.scopeId), '0', record.id)
  if record.taskId then count.org('usedTasks', 1) end
  count.space('retainedBytes', #record.payload)
  scope.addLive(path, 1)
  emit.message.sent(record.id, record)
end
