--- A message with its payload, its result and the current state of its prerequisites and conditions.
--- @request read
--- @args messageId
--- @reply message:message
--- @include lib/call mailbox/_prerequisite mailbox/_message mailbox/_view
local record = message.shown(message.whole(messageId))
if record.prerequisites then record.prerequisites = prerequisite.standing(record.prerequisites) end
if record.awaited then record.awaited = prerequisite.standing(record.awaited) end
return call.answer({ message = record })
