--- @record budget
--- @include lib/money lib/records lib/refuse

--- The balances of a budget; refuses if there is no such budget.
function budget.read(budgetId)
  return budget.load(budgetId, 'limitMinor', 'reserved', 'settled', 'available', 'overdrawn') or refuse('BUDGET_NOT_FOUND')
end

--- Moves an amount from one balance to another; their sum does not change.
function budget.move(record, from, to, amountMinor)
  records.set(record, from, money.subtract(record[from], amountMinor))
  records.set(record, to, money.add(record[to], amountMinor))
end

--- Books what was spent beyond a reservation: what is available pays for it, and the budget is overdrawn by the rest, which
--- is returned.
function budget.overrun(record, amountMinor)
  local paid = money.exceeds(amountMinor, record.available) and record.available or amountMinor
  budget.move(record, 'available', 'settled', paid)
  local overdrawn = money.subtract(amountMinor, paid)
  if overdrawn ~= '0' then records.set(record, 'overdrawn', money.add(record.overdrawn, overdrawn)) end
  return overdrawn
end

--- The lowest limit that covers what was spent and reserved, and what the budget is overdrawn by.
function budget.neededLimit(record)
  return money.add(money.add(record.reserved, record.settled), record.overdrawn)
end
