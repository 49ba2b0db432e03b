--- @export attemptLimit
--- @space withheld
--- @include lib/clock lib/count lib/id lib/invocation lib/records lib/space mailbox/_mailbox mailbox/_message
--- @include mailbox/_ready
--- Limits of the time of an attempt. A claim under one has `attemptEndsAt`, and its lease never lasts longer. Such a
--- message has a place, so that code that ends or renews a claim looks for the limit of those alone.
local attemptLimit = {}

--- Counts a mailbox whose messages have a limit. `withheld` includes them, so that a space without any pays no read.
function attemptLimit.count(change)
  count.space('withheld', change)
  count.space('attemptLimits', change)
  if change > 0 then invocation.hasWithheld = true end
end

--- The limit of a mailbox; false if it has none. Call it only if something is withheld.
function attemptLimit.ofMailbox(mailboxId)
  if count.read('attemptLimits') == 0 then return false end
  return mailbox.load(mailboxId, 'mode', 'attemptSeconds').attemptSeconds
end

--- Begins the time of a claim that ends at `endsAt` unless it is renewed. ofMailbox: the limit of its mailbox. Returns
--- when the lease ends.
function attemptLimit.begin(record, ofMailbox, endsAt)
  local seconds = record.attemptSeconds or ofMailbox
  if not seconds then return endsAt end
  -- It has been ready since it was sent.
  if not record.place then records.set(record, 'place', ready.placeAt(momentOf(record.id))) end
  records.set(record, 'attemptEndsAt', now + 1000 * seconds)
  return math.min(endsAt, record.attemptEndsAt)
end

--- When the present attempt ends at the latest; math.huge without a limit.
function attemptLimit.endOf(record)
  return record.place and message.load(record.id, 'attemptEndsAt').attemptEndsAt or math.huge
end

--- The claim has ended, and the message continues.
function attemptLimit.forget(record)
  if attemptLimit.endOf(record) < math.huge then records.set(record, 'attemptEndsAt', false) end
end
