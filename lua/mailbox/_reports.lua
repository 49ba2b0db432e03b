--- @export reports
--- @include lib/clock lib/count lib/invocation lib/records lib/space mailbox/_mailbox mailbox/_message
--- Events of progress, for mailboxes with `progressEvents`.
local reports = {}

--- Each of these mailboxes counts so many in `withheld` of the space's record, far more than a space has BLOCKED
--- messages and pauses. So a report learns without a read that its space has none.
local weight = 1000000000

function reports.count(change)
  invocation.hasWithheld = true
  count.space('withheld', change * weight)
end

--- Whether the mailbox of a message may have them.
function reports.mayMatter()
  return (keyspace.record.withheld or 0) >= weight or invocation.hasWithheld
end

--- Emits the event of a report, unless one was emitted within the last second.
function reports.tell(record)
  -- The mode: without any field that it has, a mailbox would not be found.
  if not mailbox.load(record.mailboxId, 'mode', 'progressEvents').progressEvents then return end
  local last = message.load(record.id, 'progressedAt').progressedAt
  if last and now - last < 1000 then return end
  records.set(record, 'progressedAt', now)
  message.needTrace(record)
  emit.message.progressed(record.id, record)
end
