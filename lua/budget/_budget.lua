--- @record budget
--- @include lib/clock lib/money lib/records lib/refuse lib/unit budget/_labels
--- A budget at the current time. Calls read five fields of a plain budget.

--- Whether a budget has no parent, no window and no alerts and was never overdrawn, so that nothing but its balances
--- counts. All others store `overdrawn`.
function budget.isPlain(record)
  return not record.overdrawn
end

--- The balances of a budget, and its other fields that reserve and settle need. Refuses if the budget does not exist.
--- at: an earlier moment than now (budget.advance).
function budget.read(budgetId, at)
  local record = budget.load(budgetId, 'limitMinor', 'reserved', 'settled', 'available', 'overdrawn')
    or refuse('BUDGET_NOT_FOUND')
  if not budget.isPlain(record) then
    budget.advance(budget.load(budgetId, 'line', 'windowSeconds', 'windowStartedAt', 'settledBefore', 'alertPercents',
      'alerted'), at)
  end
  return record
end

--- The whole budget. Refuses if it does not exist.
function budget.view(budgetId)
  return budget.advance(budget.load(budgetId) or refuse('BUDGET_NOT_FOUND'))
end

local rolledFields = { 'windowStartedAt', 'settledBefore', 'settled', 'available', 'overdrawn', 'alerted' }
--- Bounds the product in money.times. Windows are at least a minute, so only a budget that rests for 15 years meets it.
local maxPaidWindows = 8000000

--- Pays what a budget is overdrawn by from each of the windows that have begun, as far as their limit is not reserved.
--- Returns the amount that the last of them pays.
local function payOverdraft(record, windows)
  local rest, room = record.overdrawn, money.subtract(record.limitMinor, record.reserved)
  if windows > 1 then
    local earlier = money.least(rest, money.times(room, math.min(windows - 1, maxPaidWindows)))
    record.settledBefore = money.add(record.settledBefore, earlier)
    rest = money.subtract(rest, earlier)
  end
  local paid = money.least(rest, room)
  record.overdrawn = money.subtract(rest, paid)
  return paid
end

--- Starts a new window if the last one has ended: `settled` starts at zero, or at what it pays of the overdraft;
--- `reserved` stays. Reads and refused calls write nothing, so only `storeRoll` stores the change. at: the moment that
--- counts if it is earlier than now; a window that began after it, and is not stored yet, is taken back.
function budget.advance(record, at)
  local windowMs = record.windowSeconds and record.windowSeconds * 1000
  if not windowMs then return record end
  if at and record.beforeRoll then
    for _, field in ipairs(rolledFields) do record[field] = record.beforeRoll[field] end
    record.beforeRoll = nil
  end
  at = at or now
  if at < record.windowStartedAt + windowMs then return record end
  if not record.beforeRoll then
    record.beforeRoll = {}
    for _, field in ipairs(rolledFields) do record.beforeRoll[field] = record[field] end
  end
  local startedAt, paid = at - at % windowMs, '0'
  record.settledBefore = money.add(record.settledBefore, record.settled)
  if record.overdrawn ~= '0' then paid = payOverdraft(record, (startedAt - record.windowStartedAt) / windowMs) end
  record.windowStartedAt, record.settled, record.alerted = startedAt, paid, false
  record.available = money.subtract(money.subtract(record.limitMinor, record.reserved), paid)
  return record
end

--- Stores the window that `advance` has started. Call it before any other change of the record.
function budget.storeRoll(record)
  local before = record.beforeRoll
  if not before then return end
  for _, field in ipairs(rolledFields) do records.set(record, field, record[field]) end
  unit.delete(keys.budgetLabels(record.id, string.format('%d', before.windowStartedAt)))
  record.beforeRoll = nil
  if record.settled ~= '0' then labels.add(record, 'overdrawn', record.settled) end
end

--- Moves an amount from one balance to another; their sum does not change.
function budget.move(record, from, to, amountMinor)
  records.set(record, from, money.subtract(record[from], amountMinor))
  records.set(record, to, money.add(record[to], amountMinor))
end

--- Books spending beyond a reservation: takes it from the available balance, and overdraws the budget by the rest.
--- Returns the rest.
function budget.overrun(record, amountMinor)
  local paid = money.exceeds(amountMinor, record.available) and record.available or amountMinor
  budget.move(record, 'available', 'settled', paid)
  local overdrawn = money.subtract(amountMinor, paid)
  if overdrawn ~= '0' then records.set(record, 'overdrawn', money.add(record.overdrawn or '0', overdrawn)) end
  return overdrawn
end

function budget.isOverdrawn(record)
  return record.overdrawn and record.overdrawn ~= '0'
end

--- The lowest limit that covers the reserved, settled and overdrawn amounts.
function budget.neededLimit(record)
  return money.add(money.add(record.reserved, record.settled), record.overdrawn or '0')
end
