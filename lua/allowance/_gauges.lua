--- @include "lib/gauges"
--- For how long the oldest WAITING waiter has waited.
function gauges.oldestWaiterAgeSeconds()
  local since = redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2]
  return since and math.max(0, gauges.now() - since) / 1000
end
