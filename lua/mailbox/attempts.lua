--- A message's past attempts, and the fields of its current or last attempt from the message itself.
--- @request read
--- @args messageId
--- @reply past state attempts holder claimedAt finishedAt progress
--- @include lib/call mailbox/_message
local record = message.whole(messageId)
return call.answer({ past = record.pastAttempts, state = record.state, attempts = record.attempts,
  holder = record.holder, claimedAt = record.claimedAt, finishedAt = record.finishedAt, progress = record.progress })
