--- @registry asked dependents members noted ripening suspended
--- What other rooms and later files add to messages.

--- Questions asked by messages; question/_ofMessage adds:
---
--- find(questionId): a question as replies show it.
--- bytes(record): the total length of its texts; 0 for no question.
--- withdraw(questionId, at, cause): its message ended at `at`; cause: of the event.
--- forget(messageId, finishedAt): retention has removed a message that asked questions.
local asked = {}

--- The dependents of a message or group (`after` of a send); mailbox/_prerequisite adds:
---
--- ended(id, state, at, cause, record): frees or cancels the dependents of a message or group that ended in this state
--- at `at`. cause: the request id of the events; nil for the current one. record: the message's; nil for a group.
--- gone(id, state): retention is removing a message that ended in this state.
--- forget(record): a BLOCKED message ends, so its prerequisites no longer concern it.
--- settle(place, at, cause, endOfNote): a place of mailbox/_waits may be over; if it is, lets those that wait there
--- continue.
local dependents = {}

--- Changes of a member of a task group (record.groupId) that follow from its message; group/_member and group/_requeue
--- add:
---
--- started(record): READY to CLAIMED.
--- released(record, at): CLAIMED, about to wait again; returns true if it was cancelled instead.
--- overdue(record): whether the deadline of its undecided group has passed, swept or not.
--- decided(record): the outcome of its group if that is decided, or if a due deadline or cancel decides it; else nil.
--- finished(record, wasClaimed, at, reason, cause): to a final state; sets record.groupState of an ACKED message.
--- obstacle(record): why it cannot be requeued, as an error's code and detail; nil if it can.
--- requeued(record, from): from the final state `from` to a live state.
local members = {}

--- Notes, which suspended messages may wait for; note/_note adds:
---
--- version(scopeId, key): the version of a note, 0 if there is none.
--- waits(scopeId, change): so many more messages wait for notes of a scope.
local noted = {}

--- Suspended messages; mailbox/_suspension adds:
---
--- over(id, number, state, at): what it waited for in the set of this number is over; returns false for a message that
--- is not suspended.
--- forget(record): it ends while it is suspended.
local suspended = {}

--- For keys (mailbox/_keyed), whose order depends on when delays ended; mailbox/_delay adds:
---
--- through(mailboxId, at): makes a bounded number of DELAYED messages of a mailbox that were due at `at` READY.
local ripening = {}
