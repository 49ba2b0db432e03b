--- @include lib/hooks lib/timer group/_decide group/_group
--- The deadline of a group. Returns the number of changes: the decision and the cancelled members.
due['group:deadline'] = function(groupId, at, maxChanges, isFirst)
  local record = group.load(groupId)
  if not record or record.state == 'DECIDED' then return end
  -- A decision is one step: if this sweep has too few changes left for it, the next one starts with it.
  local cancelled = record.pending
  if cancelled >= maxChanges and not isFirst then
    timer.arm('group:deadline', groupId, at)
    return maxChanges
  end
  group.evaluate(record, at)
  return 1 + cancelled
end
