--- @include lib/clock lib/count lib/records lib/sorted lib/timer mailbox/_prerequisite mailbox/_claim mailbox/_message
--- @include mailbox/_others mailbox/_requires mailbox/_return mailbox/_send mailbox/_suspension
--- @include scope/_live scope/_scope
--- Requeues messages that ended without success.
local ofEnd = { 'reason', 'finishedAt', 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt',
  'attemptEndsAt' }

--- The first reason why a message cannot be requeued, as an error's code and detail; nil if it can.
function message.obstacle(record)
  if not message.requeueable[record.state] then return 'MESSAGE_NOT_REQUEUABLE', record.state end
  if scope.cancelFor(record) then return 'SCOPE_CANCELLED' end
  if record.groupId then
    local code, detail = members.obstacle(record)
    if code then return code, detail end
  end
  local gone = record.required and requires.gone(record.required)
  if gone then return 'POOL_NOT_FOUND', 'requires' end
  if record.prerequisites then
    local kept, places, detail = prerequisite.judge(record.prerequisites)
    if not kept then return places, detail end
    record.kept, record.places = kept, places
  end
end

--- Requeues a message that has passed `message.obstacle`. record: from message.readForRequeue; box: its mailbox.
function message.requeue(record, box, delaySeconds)
  message.unpack(record)
  message.needTrace(record)
  -- Keeps `sent` unchanged although one more message is live (mailbox/_figures).
  count.space('requeuedTotal', 1)
  records.add(box.hashKey, 'requeuedTotal', 1)
  local from, path = record.state, scope.path(record.scopeId)
  sorted.remove(keys.requeueable(record.mailboxId, from), record.id)
  if from == 'FAILED' then records.add(keys.mailbox(record.mailboxId), 'failed', -1) end
  -- An attempt that ended in any other state was kept at its end.
  if record.token and (from == 'EXPIRED' or from == 'CANCELLED') then
    attempts.keep(record, message.load(record.id, 'finishedAt').finishedAt, from)
  end
  records.set(record, 'attempts', 0)
  for _, field in ipairs(ofEnd) do records.set(record, field, false) end
  suspension.forget(record)
  if record.deadline and record.deadline > now then
    count.space('timers:ARMED', 1)
    timer.arm('mailbox:message', record.id, record.deadline)
  elseif record.deadline then
    records.set(record, 'deadline', false)
  end
  if record.kept then records.set(record, 'prerequisites', record.kept) end
  if record.required then requires.count(record.required, 1) end
  local readyAt = delaySeconds > 0 and now + 1000 * delaySeconds or nil
  if message.willWait(record) then
    prerequisite.hold(record, record.places, box, readyAt)
  else
    message.enqueue(record, path, box, readyAt, now)
  end
  if record.taskId then count.org('usedTasks', 1) end
  scope.addLive(path, 1)
  scope.addAlong(path, message.endedIn[from], -1)
  emit.message.requeued(record.id, record)
  if record.groupId then members.requeued(record, from) end
end
