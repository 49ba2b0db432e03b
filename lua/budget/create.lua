--- Creates a budget; its name is unique in the space. detail: for the audit trail.
--- @request write
--- @args name currency scale limitMinor detail tail
--- @reply budget:budget
--- @include lib/audit lib/call lib/caller lib/clock lib/id lib/maps lib/plan lib/refuse lib/sorted budget/_budget
if maps.get(keys.budgetNames(), name) then refuse('BUDGET_EXISTS') end
plan.needOperation()

local record = { id = newId(tail), name = name, currency = currency, scale = scale, createdAt = now,
  limitMinor = limitMinor, reserved = '0', settled = '0', available = limitMinor, overdrawn = '0' }
budget.insert(record)
maps.put(keys.budgetNames(), name, record.id)
sorted.add(keys.budgets(), '0', record.id)
audit('budget.created', caller.keyId(), record.id, detail)
emit.budget.created(record.id, record)
return call.answer({ budget = record }, 'operation')
