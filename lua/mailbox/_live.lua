--- @include mailbox/_message
--- When a live message next changes by itself: its deadline or the end of its lease.
function message.changesAt(record)
  local at = record.deadline or math.huge
  return record.state == 'CLAIMED' and math.min(at, record.leaseExpiresAt) or at
end
