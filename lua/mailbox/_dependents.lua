--- @registry dependents
--- What is after a message or a group (`after` of a send), added by mailbox/_after:
---
--- ended(id, state, at, cause, record): it has ended so at `at`. Frees or cancels the messages that are after it. cause: the id of the
--- request whose events this makes; nil: the current one. record: that of a message; nil: it is a group.
--- gone(id, state): retention removes a message that ended so.
--- forget(record): a BLOCKED message ends itself, and is after nothing any more.
local dependents = {}
