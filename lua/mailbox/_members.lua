--- @registry members
--- What happens to a member of a task group (record.groupId) when its message changes, added by group/_member and
--- group/_requeue:
---
--- started(record): READY to CLAIMED.
--- released(record, at): CLAIMED, about to become READY again; true if it is cancelled instead.
--- finished(record, wasClaimed, at, reason, cause): to a final state; sets record.groupState of an ACKED one.
--- obstacle(record): why it may not be brought back, an error's code and detail; nil if it may.
--- requeued(record, from): from the final state `from` to READY again.
local members = {}
