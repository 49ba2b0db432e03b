--- @record reservation
--- @include "lib/timer"
--- @include "lib/finished"
--- @include "scope/_scope"
--- What every transition of a reservation shares (contract section 4).

local function isLate(record)
  return record.state == 'ACTIVE' and record.settleBy and record.settleBy <= now
end

--- The record as it is shown: what is past its settleBy is overdue, swept or not.
function reservation.view(record)
  record.overdue = record.overdue or isLate(record)
  return record
end

--- Says once that an ACTIVE reservation's settleBy has passed.
function reservation.becomeOverdue(record)
  if record.overdue or not isLate(record) then return end
  records.set(record, 'overdue', true)
  emit.budget.reservation_overdue(record.budgetId,
    { scopeId = record.scopeId, reservationId = record.id, state = record.state })
end

--- Takes an ACTIVE reservation to SETTLED or VOIDED.
function reservation.close(record, state)
  reservation.enter(record, state)
  records.set(record, 'closedAt', now)
  scope.addAlong(scope.path(record.scopeId), 'activeReservations', -1)
  sorted.remove(keys.budgetReservations(record.budgetId, 'ACTIVE'), record.id)
  sorted.add(keys.budgetReservations(record.budgetId, state), '0', record.id)
  if record.settleBy then
    timer.disarm('budget:reservation', record.id)
    count.space('timers:ARMED', -1)
  end
  sorted.add(keys.closed(), nowText, finished.member('budget:reservation', record.id))
end
