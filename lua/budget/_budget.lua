--- @include "lib/space"
--- @include "lib/refuse"
--- @include "lib/later"
--- @include "lib/money"
--- The balances of budgets. What the requests of a run do to one budget is read once, and written once.
local budget = {}
--- The budgets that this run has read, by space and id.
local known

function budget.begin()
  known = {}
end

--- The balances as they stand; refuses where there is no such budget.
function budget.read(budgetId)
  local ofSpace = known[spaceId]
  if not ofSpace then
    ofSpace = {}
    known[spaceId] = ofSpace
  end
  local record = ofSpace[budgetId]
  if record then return record end
  local key = keys.budget(budgetId)
  local values = redis.call('HMGET', key, 'limitMinor', 'reserved', 'settled', 'available')
  if not values[1] then refuse('BUDGET_NOT_FOUND') end
  record = { key = key, limitMinor = values[1], reserved = values[2], settled = values[3], available = values[4], halves = {} }
  ofSpace[budgetId] = record
  return record
end

local function change(record, balance, high, low)
  local halves = record.halves[balance]
  if not halves then
    halves = { money.halves(record[balance]) }
    record.halves[balance] = halves
  end
  record[balance], halves[1], halves[2] = money.join(halves[1] + high, halves[2] + low)
  later.set(record.key, balance, record[balance])
end

--- Moves an amount from one balance to another, so their sum stays what it was.
function budget.move(record, from, to, amountMinor)
  local high, low = money.halves(amountMinor)
  change(record, from, -high, -low)
  change(record, to, high, low)
end

--- The limit and the three balances, for an answer.
function budget.balances(record)
  return { record.limitMinor, record.reserved, record.settled, record.available }
end
