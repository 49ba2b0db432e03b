--- @include "mailbox/_oldest"
--- The moment of the space's oldest READY message, or false: exact as that of a mailbox is, and where no more than `most`
--- mailboxes have one of its second.
function oldest.ready(most)
  local first = math.huge
  for _, mailboxId in ipairs(firstOf(keys.oldestReady(), most)) do
    first = math.min(first, oldest.readyOf(mailboxId, most) or first)
  end
  return first < math.huge and first
end

--- The moment of the oldest WAITING waiter as text, or false.
function oldest.waiter()
  return redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2] or false
end
