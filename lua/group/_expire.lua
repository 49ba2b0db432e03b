--- @include "lib/due"
--- @include "group/_group"
--- @include "group/_member"
--- An undecided group at its deadline `at`. Answers the number of changes: the decision and the members it cancelled.
due['group:deadline'] = function(groupId, at, most, isFirst)
  local record = group.load(groupId)
  if not record or record.state == 'DECIDED' then return end
  -- It is decided in one step: the next sweep begins with it where this one has too little left.
  if record.pending >= most and not isFirst then
    timer.arm('group:deadline:' .. spaceNumber .. ':' .. groupId, at)
    return most
  end
  group.decide(record, 'EXPIRED', at)
  return 1 + record.pending
end
