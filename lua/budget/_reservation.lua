--- @record reservation
--- @include "lib/later"
--- @include "lib/timer"
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
  record.overdue = true
  redis.call('HSET', keys.reservation(record.id), 'overdue', '1')
  emit.budget.reservation_overdue(record.budgetId,
    { scopeId = record.scopeId, reservationId = record.id, state = record.state })
end

--- Takes an ACTIVE reservation to SETTLED or VOIDED, but for the record itself.
function reservation.close(record, state)
  reservation.enter(record, state)
  record.closedAt = now
  later.leave(keys.budgetReservations(record.budgetId, 'ACTIVE'), record.id)
  later.enter(keys.budgetReservations(record.budgetId, state), '0', record.id)
  local member = 'budget:reservation:' .. spaceNumber .. ':' .. record.id
  if record.settleBy then
    timer.disarm(member)
    count.add(count.space, 'timers:ARMED', -1)
  end
  later.enter(keys.closed(), nowText, member)
end
