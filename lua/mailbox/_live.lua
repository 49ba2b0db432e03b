--- @include "lib/clock"
--- @include "mailbox/_message"
--- Whether a message is READY or CLAIMED.
function message.isLive(record)
  return record.state == 'READY' or record.state == 'CLAIMED'
end

--- The moment at which a live message changes by itself: its deadline, or the end of its lease.
function message.changesAt(record)
  local at = record.deadline or math.huge
  return record.state == 'CLAIMED' and math.min(at, record.leaseExpiresAt) or at
end
