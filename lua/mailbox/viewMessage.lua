--- A message with its payload and its result.
--- @request read
--- @args messageId
--- @reply message:message
--- @include lib/call mailbox/_message mailbox/_whole
return call.answer({ message = message.shown(message.whole(messageId)) })
