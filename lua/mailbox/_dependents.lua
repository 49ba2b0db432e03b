--- @registry dependents
--- The dependents of a message or group (`after` of a send); mailbox/_after adds:
---
--- ended(id, state, at, cause, record): frees or cancels the dependents of a message or group that ended in this state at
--- `at`. cause: the request id of the events; nil for the current one. record: the message's; nil for a group.
--- gone(id, state): retention is removing a message that ended in this state.
--- forget(record): a BLOCKED message ends, so its prerequisites no longer concern it.
local dependents = {}
