--- @include "lib/retained"
--- @include "scope/_retain"
--- A closed reservation, then its entries with their workKeys: a reservation may have any number of them, so they go in
--- steps, and count as gone from the first on (budget/_entry).
retained['budget:reservation'] = function(reservationId, at)
  local budgetId, scopeId, state, firstEntry = unpack(redis.call('HMGET', keys.reservation(reservationId), 'budgetId', 'scopeId',
    'state', 'firstEntry'))
  if budgetId then
    redis.call('UNLINK', keys.reservation(reservationId))
    redis.call('ZREM', keys.budgetReservations(budgetId, state), reservationId)
    redis.call('ZREM', keys.scopeReservations(scopeId), reservationId)
    redis.call('LPUSH', keys.reservationWorkKeys(reservationId), firstEntry, budgetId)
    count.add(count.space, 'reservations:' .. state, -1)
    scope.release(scopeId, at)
  end
  local entries = redis.call('LPOP', keys.reservationWorkKeys(reservationId), 100)
  if not entries then return end
  budgetId = entries[1]
  for i = 2, #entries do
    local kind, workKey = string.match(entries[i], '^(%S+) (.*)$')
    local known = redis.call('HGET', keys.budgetWorkKeys(budgetId, kind), workKey)
    -- Another reservation may have used the workKey since.
    if known and string.find(known, reservationId, 1, true) then redis.call('HDEL', keys.budgetWorkKeys(budgetId, kind), workKey) end
  end
  if redis.call('EXISTS', keys.reservationWorkKeys(reservationId)) == 1 then
    redis.call('LPUSH', keys.reservationWorkKeys(reservationId), budgetId)
    redis.call('ZADD', keys.closed(), string.format('%d', at), 'budget:reservation:' .. spaceId .. ':' .. reservationId)
  end
  return #entries
end
