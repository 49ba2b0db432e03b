--- Rejects a claimed message for good, or returns it to the back of the queue for another attempt; once its attempts
--- are used up, it is FAILED instead. retry: '1' or '0'. countsAttempt '0': the message was not tried, so the attempt
--- is taken back and the mailbox's pause does not apply. delaySeconds: '' for the mailbox's pause. reported: why the
--- attempt failed, or ''.
--- @request write
--- @args messageId token retry countsAttempt delaySeconds reported
--- @reply state attempts readyAt
--- @include lib/call lib/clock lib/records mailbox/_claim mailbox/_end mailbox/_errors mailbox/_message
--- @include mailbox/_return
local record = message.readForRetry(messageId)
checkClaim(record, token)

local outcome = retry == '0' and 'REJECTED' or countsAttempt == '0' and 'UNTRIED' or 'RETURNED'
attempts.keep(record, now, outcome, reported ~= '' and reported)
if reported ~= '' then
  message.keep(record, 'lastError', reported)
  if outcome ~= 'UNTRIED' then failures.count(record.mailboxId, now, failures.textOf(reported)) end
end
if retry == '0' then
  message.finish(record, 'REJECTED', now, emit.message.rejected, 'REJECTED_BY_WORKER')
elseif countsAttempt == '0' then
  records.set(record, 'attempts', record.attempts - 1)
  message.release(record, now, tonumber(delaySeconds) or 0)
else
  message.retry(record, now, tonumber(delaySeconds))
end
return call.answer({ state = record.state, attempts = record.attempts, readyAt = record.readyAt }, 'operation')
