--- @record budget
--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/money"
--- The balances of budgets.

--- The balances as they stand; refuses where there is no such budget.
function budget.read(budgetId)
  local key = keys.budget(budgetId)
  local record = records.known(key)
  if record then return record end
  record = budget.load(budgetId, 'limitMinor', 'reserved', 'settled', 'available') or refuse('BUDGET_NOT_FOUND')
  record.halves = {}
  return records.keep(key, record)
end

local function change(record, balance, high, low)
  local halves = record.halves[balance]
  if not halves then
    halves = { money.halves(record[balance]) }
    record.halves[balance] = halves
  end
  local amountMinor
  amountMinor, halves[1], halves[2] = money.join(halves[1] + high, halves[2] + low)
  records.set(record, balance, amountMinor)
end

--- Moves an amount from one balance to another, so their sum stays what it was.
function budget.move(record, from, to, amountMinor)
  local high, low = money.halves(amountMinor)
  change(record, from, -high, -low)
  change(record, to, high, low)
end
