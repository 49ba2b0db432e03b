--- @include "lib/gauges"
--- @include "mailbox/_oldest"
--- The time since which the space's oldest READY message is ready, or false. It is exact if at most `maxMailboxes`
--- mailboxes have one of the same second, under the same condition as for a mailbox.
function gauges.oldestReadyAt(maxMailboxes)
  maxMailboxes = maxMailboxes or 16
  local first = math.huge
  for _, mailboxId in ipairs(firstOf(keys.oldestReady(), maxMailboxes)) do
    first = math.min(first, oldest.readyOf(mailboxId, maxMailboxes) or first)
  end
  return first < math.huge and first
end
