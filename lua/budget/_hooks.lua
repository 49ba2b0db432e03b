--- @include lib/answers lib/hooks lib/money budget/_reservation
--- What the room adds to the work of others: see lib/hooks.

inRun.reservations = {}

function inRun.reservations.index(scopeId)
  return keys.scopeReservations(scopeId)
end

function inRun.reservations.row(id)
  return rows.reservation(reservation.view(reservation.load(id)))
end

worked['reservation.amountMinor'] = function(values)
  local given = money.add(money.add(values.settledMinor, values.voidedMinor), values.remainingMinor)
  return money.subtract(given, values.overrunMinor == '' and '0' or values.overrunMinor)
end

worked['budget.parentBudgetId'] = function(values) return string.sub(values.line, 1, 36) end

worked['budget.settledTotal'] = function(values)
  return money.add(values.settled, values.settledBefore == '' and '0' or values.settledBefore)
end

keptByCancel.activeReservations = 'activeReservations'
