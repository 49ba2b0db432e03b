--- @include "lib/gauges"
--- The moment since which the oldest WAITING waiter of the space waits.
function gauges.oldestWaitingAt()
  return tonumber(redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2]) or false
end
