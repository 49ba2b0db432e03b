--- @registry members
--- What happens to a member of a task group (record.groupId) when its message changes; group/_member and group/_requeue add:
---
--- started(record): READY to CLAIMED.
--- released(record, at): CLAIMED, about to become READY; returns true if it was cancelled instead.
--- decided(record): the outcome of its group if that is decided, or if a due deadline or cancel decides it; else nil.
--- finished(record, wasClaimed, at, reason, cause): to a final state; sets record.groupState of an ACKED message.
--- obstacle(record): why it cannot be requeued, as an error's code and detail; nil if it can.
--- requeued(record, from): from the final state `from` to READY.
local members = {}
