--- @record budget
--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/money"

--- The balances of a budget; refuses if there is no such budget.
function budget.read(budgetId)
  return budget.load(budgetId, 'limitMinor', 'reserved', 'settled', 'available') or refuse('BUDGET_NOT_FOUND')
end

--- Moves an amount from one balance to another; their sum does not change.
function budget.move(record, from, to, amountMinor)
  records.set(record, from, money.subtract(record[from], amountMinor))
  records.set(record, to, money.add(record[to], amountMinor))
end
