--- @include lib/answers lib/money
worked['reservation.amountMinor'] = function(values)
  local given = money.add(money.add(values.settledMinor, values.voidedMinor), values.remainingMinor)
  return money.subtract(given, values.overrunMinor == '' and '0' or values.overrunMinor)
end

worked['budget.parentBudgetId'] = function(values) return string.sub(values.line, 1, 36) end

worked['budget.settledTotal'] = function(values)
  return money.add(values.settled, values.settledBefore == '' and '0' or values.settledBefore)
end
