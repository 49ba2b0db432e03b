--- @include "lib/due"
--- @include "group/_group"
--- @include "group/_member"
--- An undecided group at its deadline `at`. Answers the number of changes: the decision and the members it cancelled.
due['group:deadline'] = function(groupId, at)
  local record = group.read(groupId)
  if not record or record.state == 'DECIDED' then return end
  group.decide(record, 'EXPIRED', at)
  return 1 + record.pending
end
