--- Rejects a claimed message for good, or returns it for another attempt: to the back of the queue or, once its attempts are
--- used up, to FAILED. retry: '1' or '0'. countsAttempt '0': it was not tried, so the attempt is taken back and the mailbox's
--- pause does not apply. delaySeconds: '' for the mailbox's pause. reported: why it failed, or ''.
--- @request write
--- @args messageId token retry countsAttempt delaySeconds reported
--- @reply state attempts readyAt
--- @include lib/call lib/clock lib/records mailbox/_claim mailbox/_finish mailbox/_message mailbox/_release
local record = message.readForRetry(messageId)
checkClaim(record, token)

if reported ~= '' then message.keep(record, 'lastError', reported) end
if retry == '0' then
  message.finish(record, 'REJECTED', now, emit.message.rejected, 'REJECTED_BY_WORKER')
elseif countsAttempt == '0' then
  records.set(record, 'attempts', record.attempts - 1)
  message.release(record, now, tonumber(delaySeconds) or 0)
elseif record.attempts >= record.maxAttempts then
  message.finish(record, 'FAILED', now, emit.message.failed, 'ATTEMPTS_EXHAUSTED')
else
  message.release(record, now, tonumber(delaySeconds))
end
return call.answer({ state = record.state, attempts = record.attempts, readyAt = record.readyAt }, 'operation')
