--- A message's attempts, for its present or last one as the message has it.
--- @request read
--- @args messageId
--- @reply past state attempts holder claimedAt finishedAt progress
--- @include lib/call mailbox/_message mailbox/_whole
local record = message.whole(messageId)
return call.answer({ past = record.pastAttempts, state = record.state, attempts = record.attempts, holder = record.holder,
  claimedAt = record.claimedAt, finishedAt = record.finishedAt, progress = record.progress })
