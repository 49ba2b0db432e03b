--- @include lib/gauges
--- When the space's oldest WAITING waiter began to wait, or false.
function gauges.oldestWaitingAt()
  return tonumber(redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2]) or false
end
