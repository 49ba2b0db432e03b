--- @include "lib/retained"
--- @include "lib/unit"
--- @include "scope/_retain"
--- @include "budget/_entry"
--- @include "budget/_reservation"
--- A closed reservation, then its entries with their workKeys: a reservation may have any number of them, so they go in
--- steps, and count as gone from the first on (budget/_work).
retained['budget:reservation'] = function(reservationId, at)
  local record = reservation.load(reservationId, 'budgetId', 'scopeId', 'state', 'firstEntry', 'workKey')
  if record then
    unit.delete(keys.reservation(reservationId))
    sorted.remove(keys.budgetReservations(record.budgetId, record.state), reservationId)
    sorted.remove(keys.scopeReservations(record.scopeId), reservationId)
    unit.command('LPUSH', keys.reservationWorkKeys(reservationId), record.firstEntry, record.budgetId)
    if record.workKey then maps.remove(keys.budgetWorkKeys(record.budgetId, 'RESERVE'), record.workKey) end
    reservation.leave(record.state)
    scope.release(record.scopeId, at)
    unit.write()
  end
  local key = keys.reservationWorkKeys(reservationId)
  local marks = redis.call('LRANGE', key, 0, 99)
  if not marks[1] then return end
  local budgetId = marks[1]
  for i = 2, #marks do
    local kind, workKey = entry.marked(marks[i])
    local ofKind = keys.budgetWorkKeys(budgetId, kind)
    local found = entry.find(ofKind, workKey)
    -- Another reservation may have used the workKey since.
    if found and found.reservationId == reservationId then maps.remove(ofKind, workKey) end
  end
  if redis.call('LLEN', key) > #marks then
    unit.command('LPOP', key, #marks)
    unit.command('LPUSH', key, budgetId)
    sorted.add(keys.closed(), string.format('%d', at), finished.member('budget:reservation', reservationId))
  else
    unit.delete(key)
  end
  return #marks
end
