--- @include "lib/gauges"
--- For how many seconds the oldest WAITING waiter has waited; replies cut them to whole ones.
function gauges.oldestWaiterAgeSeconds()
  local since = redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2]
  return since and math.max(0, gauges.now() - since) / 1000
end
