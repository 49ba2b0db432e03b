--- Changes a budget's limit, which never lies below what is reserved and settled. A limit that covers what the budget is
--- overdrawn by, too, settles that. `detail` is the audit's.
--- @request write
--- @args budgetId limitMinor detail
--- @reply budget:budget
--- @include lib/audit lib/call lib/caller lib/money lib/plan lib/records lib/refuse budget/_budget
local record = budget.load(budgetId) or refuse('BUDGET_NOT_FOUND')
local covers = record.overdrawn ~= '0' and not money.exceeds(budget.neededLimit(record), limitMinor)
if limitMinor == record.limitMinor and not covers then return call.answer({ budget = record }) end
local used = money.add(record.reserved, record.settled)
if money.exceeds(used, limitMinor) then refuse('LIMIT_BELOW_USE', 'limitMinor ' .. used) end
plan.needOperation()

records.set(record, 'limitMinor', limitMinor)
records.set(record, 'available', money.subtract(limitMinor, used))
if covers then
  budget.move(record, 'available', 'settled', record.overdrawn)
  records.set(record, 'overdrawn', '0')
end
emit.budget.limit_changed(budgetId, record)
audit('budget.limit_changed', caller.keyId(), budgetId, detail)
return call.answer({ budget = record }, 'operation')
