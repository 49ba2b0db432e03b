--- @include lib/finished lib/hooks lib/maps lib/sorted lib/unit budget/_entry budget/_reservation scope/_retain
--- @include scope/_scope
--- Removes a closed reservation, then its entries with their workKeys. It may have any number of entries, so they are
--- removed in steps; without their reservation they have no effect (budget/_work).
retained['budget:reservation'] = function(reservationId, at)
  local record = reservation.load(reservationId, 'budgetId', 'scopeId', 'state', 'firstEntry', 'workKey')
  if record then
    unit.delete(keys.reservation(reservationId))
    sorted.remove(keys.budgetReservations(record.budgetId, record.state), reservationId)
    sorted.remove(keys.scopeReservations(record.scopeId), reservationId)
    -- A reservation that was settled when it was overdue may have no entry with a workKey.
    if record.firstEntry then unit.command('LPUSH', keys.reservationWorkKeys(reservationId), record.firstEntry) end
    unit.command('LPUSH', keys.reservationWorkKeys(reservationId), record.budgetId)
    if record.workKey then maps.remove(keys.budgetWorkKeys(record.budgetId, 'RESERVE'), record.workKey) end
    reservation.leave(record.state)
    scope.release(record.scopeId, at)
    unit.write()
  end
  local key = keys.reservationWorkKeys(reservationId)
  local references = redis.call('LRANGE', key, 0, 99)
  if not references[1] then return end
  local budgetId = references[1]
  for i = 2, #references do
    local kind, workKey = entry.parse(references[i])
    local ofKind = keys.budgetWorkKeys(budgetId, kind)
    local found = entry.find(ofKind, workKey)
    -- Another reservation may have used the workKey since.
    if found and found.reservationId == reservationId then maps.remove(ofKind, workKey) end
  end
  if redis.call('LLEN', key) > #references then
    unit.command('LPOP', key, #references)
    unit.command('LPUSH', key, budgetId)
    sorted.add(keys.closed(), string.format('%d', at), finished.member('budget:reservation', reservationId))
  else
    unit.delete(key)
  end
  return #references
end
