--- @include "lib/space"
--- @include "lib/refuse"
--- @include "lib/later"
--- @include "lib/money"
--- The balances of budgets. What the requests of a run do to one budget is read once, and written once.
local budget = {}
--- The budgets that this run has read, by key.
local known

function budget.begin()
  known = {}
end

--- The balances as they stand; refuses where there is no such budget.
function budget.read(budgetId)
  local key = keys.budget(budgetId)
  local record = known[key]
  if record then return record end
  local values = redis.call('HMGET', key, 'limitMinor', 'reserved', 'settled', 'available')
  if not values[1] then refuse('BUDGET_NOT_FOUND') end
  record = { key = key, limitMinor = values[1], reserved = values[2], settled = values[3], available = values[4] }
  known[key] = record
  return record
end

--- Moves an amount from one balance to another, so their sum stays what it was.
function budget.move(record, from, to, amountMinor)
  record[from], record[to] = money.subtract(record[from], amountMinor), money.add(record[to], amountMinor)
  later.set(record.key, from, record[from])
  later.set(record.key, to, record[to])
end

--- The limit and the three balances, for an answer.
function budget.balances(record)
  return { record.limitMinor, record.reserved, record.settled, record.available }
end
