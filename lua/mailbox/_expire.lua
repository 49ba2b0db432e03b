--- @include "lib/due"
--- @include "mailbox/_message"
--- @include "mailbox/_release"
--- @include "mailbox/_finish"
--- @include "mailbox/_lease"
--- @include "mailbox/_cancel"
--- @include "group/_member"
--- A message's deadline or the end of its lease, at the time `at`.
due['mailbox:message'] = function(messageId, at)
  local record = message.read(messageId)
  if not record or (record.state ~= 'READY' and record.state ~= 'CLAIMED') then return end
  local cancel = scope.cancelOf(scope.path(record.scopeId))
  if cancel then
    message.stop(record, cancel)
    return
  end
  if record.deadline and record.deadline <= at then
    message.finish(record, 'EXPIRED', at, emit.message.expired, 'DEADLINE_EXCEEDED')
    return
  end
  emit.message.lease_expired(messageId, record)
  if record.attempts >= message.maxAttempts then
    message.finish(record, 'FAILED', at, emit.message.failed, 'ATTEMPTS_EXHAUSTED')
  else
    message.release(record, at)
  end
end

--- The end of the space's earliest lease; nothing is due if that claim ended in time.
due['mailbox:lease'] = function(_, at)
  local messageId, endedAt = lease.takeDue(at)
  if messageId then due['mailbox:message'](messageId, endedAt) end
  lease.rearm()
end
