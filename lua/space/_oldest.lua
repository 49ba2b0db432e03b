--- @include "mailbox/_gauges"
--- The moment of the oldest WAITING waiter as text, or false.
function oldest.waiter()
  return redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2] or false
end
