--- @record reservation
--- @include lib/clock lib/count lib/decimal lib/finished lib/records lib/sorted lib/timer scope/_scope
--- Reservations: their record and their transitions.

--- Whether settleBy has passed and something is still set aside.
function reservation.isLate(record)
  return record.state == 'ACTIVE' and record.settleBy and record.settleBy <= now
end

--- The record as reads show it: overdue once settleBy has passed, swept or not.
function reservation.view(record)
  if record.overdue or not reservation.isLate(record) then return record end
  record = records.copy(record)
  record.overdue = true
  return record
end

--- Marks an ACTIVE reservation as overdue once its settleBy has passed. It then no longer holds an armed timer. Only
--- budget/_overdue calls this, and settles the reservation if it was made so.
function reservation.markOverdue(record)
  if record.overdue then return end
  records.set(record, 'overdue', true)
  count.space('timers:ARMED', -1)
  emit.budget.reservation_overdue(record.budgetId,
    { scopeId = record.scopeId, reservationId = record.id, state = record.state })
end

--- Moves an ACTIVE reservation to SETTLED or VOIDED. at: its end, if it is earlier than now.
function reservation.close(record, state, at)
  reservation.enter(record, state)
  records.set(record, 'closedAt', at or now)
  scope.addAlong(scope.path(record.scopeId), 'activeReservations', -1)
  sorted.remove(keys.budgetReservations(record.budgetId, 'ACTIVE'), record.id)
  sorted.add(keys.budgetReservations(record.budgetId, state), '0', record.id)
  if record.settleBy and not record.overdue then
    timer.disarm('budget:reservation', record.id)
    count.space('timers:ARMED', -1)
  end
  sorted.add(keys.closed(), at and decimal(at) or nowText, finished.member('budget:reservation', record.id))
end
