--- A message with its payload and its result.
--- @args messageId
--- @reply message:message
--- @include "lib/call"
--- @include "mailbox/_whole"
call.read()
return call.answer({ message = message.shown(message.whole(messageId)) })
