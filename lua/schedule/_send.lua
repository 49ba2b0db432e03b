--- @include lib/id lib/records mailbox/_message mailbox/_send schedule/_schedule scope/_scope

--- Sends a schedule's message. at: the moment for which it is sent; box: its mailbox, which must have room; trace: from
--- message.traced; workKey: may be nil.
function schedule.send(record, box, at, tail, trace, workKey)
  local id = newId(tail)
  trace.priority, trace.key = record.priority > 0 and record.priority or nil, record.key or nil
  trace.retryDelaySeconds = record.retryDelaySeconds or nil
  trace.maxRetryDelaySeconds = record.maxRetryDelaySeconds or nil
  trace.attemptSeconds = record.attemptSeconds or nil
  message.create({ id = id, mailboxId = record.mailboxId, scopeId = record.scopeId, state = false,
    payload = record.payload, taskId = box.mode == 'WORK' and id, workKey = workKey, maxAttempts = record.maxAttempts
    or nil }, scope.path(record.scopeId), box, trace)
  records.set(record, 'lastAt', at)
  records.set(record, 'lastMessageId', id)
  emit.schedule.fired(record.id, { scopeId = record.scopeId, mailboxId = record.mailboxId, state = record.state,
    messageId = id, missed = record.missed })
end
