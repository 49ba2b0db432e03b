--- Changes a budget's limit, which must cover the reserved and settled amounts, and the percentages of its alerts. A
--- limit that also covers the overdrawn amount settles it. '' leaves a field as it is. alertPercents: a JSON list;
--- detail: for the audit trail.
--- @request write
--- @args budgetId limitMinor alertPercents detail
--- @reply budget:budget
--- @include lib/audit lib/call lib/caller lib/clock lib/money lib/plan lib/records lib/refuse lib/timer
--- @include budget/_alerts budget/_budget budget/_overdue
if timer.nextDue <= now then overdue.catchUp() end
local record = budget.view(budgetId)
local limit, percents = record.limitMinor, record.alertPercents
if limitMinor ~= '' then limit = limitMinor end
if alertPercents ~= '' then percents = alertPercents ~= '[]' and alertPercents end
local covers = limitMinor ~= '' and budget.isOverdrawn(record) and not money.exceeds(budget.neededLimit(record), limit)
local changesLimit, changesAlerts = covers or limit ~= record.limitMinor, percents ~= record.alertPercents
if not changesLimit and not changesAlerts then return call.answer({ budget = record }) end
local used = money.add(record.reserved, record.settled)
if money.exceeds(used, limit) then refuse('LIMIT_BELOW_USE', 'limitMinor ' .. used) end
plan.needOperation()

budget.storeRoll(record)
local isRaised = money.exceeds(limit, record.limitMinor)
if changesLimit then
  records.set(record, 'limitMinor', limit)
  records.set(record, 'available', money.subtract(limit, used))
  if covers then
    budget.move(record, 'available', 'settled', record.overdrawn)
    records.set(record, 'overdrawn', '0')
  end
  emit.budget.limit_changed(budgetId, record)
  audit('budget.limit_changed', caller.actor(), budgetId, detail)
end
if changesAlerts then
  records.set(record, 'alertPercents', percents)
  if not record.overdrawn then records.set(record, 'overdrawn', '0') end
  emit.budget.updated(budgetId, { alertPercents = alertPercents })
  audit('budget.updated', caller.actor(), budgetId, detail)
end
alerts.rearm(record, isRaised)
alerts.emitReached({ record })
return call.answer({ budget = record }, 'operation')
