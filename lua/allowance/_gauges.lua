--- @include lib/gauges
--- The time since which the space's oldest WAITING waiter has waited.
function gauges.oldestWaitingAt()
  return tonumber(redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2]) or false
end
