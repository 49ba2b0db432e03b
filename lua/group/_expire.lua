--- @include "lib/due"
--- @include "group/_member"
--- An undecided group at its deadline `at`. Answers the number of changes: the decision and the members it cancelled.
due['group:deadline'] = function(groupId, at, most, isFirst)
  local record = group.load(groupId)
  if not record or record.state == 'DECIDED' then return end
  -- It is decided in one step: the next sweep begins with it where this one has too little left.
  local cancelled = record.pending
  if cancelled >= most and not isFirst then
    timer.arm('group:deadline', groupId, at)
    return most
  end
  group.evaluate(record, at)
  return 1 + cancelled
end
