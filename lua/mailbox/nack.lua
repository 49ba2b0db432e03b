--- Rejects a claimed message for good, or returns it for another attempt: to the back of the queue, or to FAILED once its
--- attempts are used up. retry: '1' or '0'.
--- @args messageId token retry
--- @reply state attempts
--- @include "lib/call"
--- @include "mailbox/_claim"
--- @include "mailbox/_release"
--- @include "mailbox/_finish"
--- @include "group/_member"
local replay = call.open()
if replay then return replay end
local record = message.read(messageId)
checkClaim(record, token)

if retry == '0' then
  message.finish(record, 'REJECTED', now, emit.message.rejected, 'REJECTED_BY_WORKER')
elseif record.attempts >= message.maxAttempts then
  message.finish(record, 'FAILED', now, emit.message.failed, 'ATTEMPTS_EXHAUSTED')
else
  message.release(record, now)
end
return call.done({ state = record.state, attempts = record.attempts })
