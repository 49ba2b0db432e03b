--- @include "lib/gauges"
--- @include "mailbox/_oldest"
--- The moment of the space's oldest READY message, or false: exact as that of a mailbox is, and where no more than `most`
--- mailboxes have one of its second.
function gauges.oldestReadyAt(most)
  most = most or 16
  local first = math.huge
  for _, mailboxId in ipairs(firstOf(keys.oldestReady(), most)) do
    first = math.min(first, oldest.readyOf(mailboxId, most) or first)
  end
  return first < math.huge and first
end
