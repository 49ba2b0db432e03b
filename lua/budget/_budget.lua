--- @record budget
--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/money"
--- The balances of budgets.

--- The balances as they stand; refuses where there is no such budget.
function budget.read(budgetId)
  return budget.load(budgetId, 'limitMinor', 'reserved', 'settled', 'available') or refuse('BUDGET_NOT_FOUND')
end

--- Moves an amount from one balance to another, so their sum stays what it was.
function budget.move(record, from, to, amountMinor)
  records.set(record, from, money.subtract(record[from], amountMinor))
  records.set(record, to, money.add(record[to], amountMinor))
end
