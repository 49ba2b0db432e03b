--- @include lib/clock lib/date lib/hooks lib/lease lib/records lib/unit mailbox/_claim mailbox/_delay mailbox/_end
--- @include mailbox/_mailbox mailbox/_message mailbox/_return scope/_scope
--- A message has reached its deadline, or its lease has ended.
due['mailbox:message'] = function(messageId, at)
  local record = message.readForRetry(messageId)
  if not record or not message.isLive(record) then return end
  local cancel = scope.cancelFor(record)
  if cancel then
    message.stop(record, cancel)
    return
  end
  if record.deadline and record.deadline <= at then
    message.finish(record, 'EXPIRED', at, emit.message.expired, 'DEADLINE_EXCEEDED')
    return
  end
  attempts.keep(record, at, 'LEASE_EXPIRED')
  message.keep(record, 'lastError', 'the lease ended at ' .. isoOf(at) .. ' (holder ' .. record.holder .. ')')
  message.needTrace(record)
  emit.message.lease_expired(messageId, record)
  if record.attempts >= record.maxAttempts then
    message.finish(record, 'FAILED', at, emit.message.failed, 'ATTEMPTS_EXHAUSTED')
  else
    message.release(record, at)
  end
end

--- The first DELAYED messages of a mailbox become READY. Each counts as two changes, as it takes about twice as long.
due['mailbox:delays'] = function(mailboxId, _, limit)
  local box = mailbox.read(mailboxId)
  return box and 2 * delay.ripen(box, math.ceil(limit / 2))
end

--- A receive has asked for messages of all runs for the first time. The runs take turns in the order of their oldest
--- messages.
due['mailbox:turns'] = function(mailboxId)
  local box = mailbox.read(mailboxId)
  if not box or box.turn then return end
  unit.command('ZRANGESTORE', keys.turns(mailboxId), keys.heads(mailboxId), 0, -1)
  records.set(box, 'turn', now)
end

--- The earliest lease of the space ends, unless its claim ended before.
due['mailbox:lease'] = function(_, at)
  local messageId, endedAt = lease.takeDue(keys.claims(), at)
  if messageId then due['mailbox:message'](messageId, endedAt) end
  lease.rearm('mailbox:lease', keys.claims())
end
