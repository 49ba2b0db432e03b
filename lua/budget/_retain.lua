--- @include "lib/retained"
--- @include "scope/_retain"
--- @include "budget/_entry"
--- @include "budget/_reservation"
--- A closed reservation, then its entries with their workKeys: a reservation may have any number of them, so they go in
--- steps, and count as gone from the first on (budget/_work).
retained['budget:reservation'] = function(reservationId, at)
  local record = reservation.load(reservationId, 'budgetId', 'scopeId', 'state', 'firstEntry')
  if record then
    redis.call('UNLINK', keys.reservation(reservationId))
    redis.call('ZREM', keys.budgetReservations(record.budgetId, record.state), reservationId)
    redis.call('ZREM', keys.scopeReservations(record.scopeId), reservationId)
    redis.call('LPUSH', keys.reservationWorkKeys(reservationId), record.firstEntry, record.budgetId)
    reservation.leave(record.state)
    scope.release(record.scopeId, at)
  end
  local marks = redis.call('LPOP', keys.reservationWorkKeys(reservationId), 100)
  if not marks then return end
  local budgetId = marks[1]
  for i = 2, #marks do
    local kind, workKey = entry.marked(marks[i])
    local key = keys.budgetWorkKeys(budgetId, kind)
    local found = entry.find(key, workKey)
    -- Another reservation may have used the workKey since.
    if found and found.reservationId == reservationId then redis.call('HDEL', key, workKey) end
  end
  if redis.call('EXISTS', keys.reservationWorkKeys(reservationId)) == 1 then
    redis.call('LPUSH', keys.reservationWorkKeys(reservationId), budgetId)
    redis.call('ZADD', keys.closed(), string.format('%d', at), 'budget:reservation:' .. spaceNumber .. ':' .. reservationId)
  end
  return #marks
end
