--- @export reports
--- @space progressMailboxes
--- @include lib/clock lib/count lib/records lib/space mailbox/_mailbox mailbox/_message
--- Events of progress, for mailboxes with `progressEvents`.
local reports = {}

--- Counts a mailbox that has them, so that a space without any pays no read for a report.
function reports.count(change)
  count.space('progressMailboxes', change)
end

--- Whether the mailbox of a message may have them.
function reports.mayMatter()
  return (tonumber(count.ofSpace(keyspace.record, 'progressMailboxes')) or 0) > 0
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
