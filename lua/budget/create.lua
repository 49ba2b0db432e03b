--- Creates a budget; its name is unique in the space. parentBudgetId, windowSeconds, alertPercents (a JSON list): ''
--- for none. detail: for the audit trail.
--- @request write
--- @args name currency scale limitMinor parentBudgetId windowSeconds alertPercents detail tail
--- @reply budget:budget
--- @include lib/audit lib/call lib/caller lib/clock lib/id lib/maps lib/plan lib/refuse lib/sorted budget/_budget
-- Bounds the cost of a reserve, which reads and writes each level.
local maxLevels = 8
local idWidth = #'0190a1b2-0000-7000-8000-000000000000 '
if maps.get(keys.budgetNames(), name) then refuse('BUDGET_EXISTS') end
scale = tonumber(scale)
local above = parentBudgetId ~= '' and parentBudgetId
if above then
  local parent = budget.load(parentBudgetId, 'currency', 'scale', 'line')
    or refuse('BUDGET_NOT_FOUND', 'parentBudgetId')
  if parent.currency ~= currency then refuse('PARENT_MISMATCH', 'currency ' .. parent.currency) end
  if parent.scale ~= scale then refuse('PARENT_MISMATCH', 'scale ' .. parent.scale) end
  if parent.line then above = above .. ' ' .. parent.line end
  if (#above + 1) / idWidth >= maxLevels then refuse('PARENT_MISMATCH', 'levels ' .. maxLevels) end
end
plan.needOperation()

local windowMs = windowSeconds ~= '' and windowSeconds * 1000
local percents = alertPercents ~= '' and alertPercents
local record = { id = newId(tail), name = name, currency = currency, scale = scale, createdAt = now,
  limitMinor = limitMinor, reserved = '0', settled = '0', available = limitMinor, line = above,
  windowSeconds = tonumber(windowSeconds), windowStartedAt = windowMs and now - now % windowMs, alertPercents =
  percents, overdrawn = (above or windowMs or percents) and '0' }
budget.insert(record)
maps.put(keys.budgetNames(), name, record.id)
sorted.add(keys.budgets(), '0', record.id)
audit('budget.created', caller.actor(), record.id, detail)
emit.budget.created(record.id, record)
return call.answer({ budget = record }, 'operation')
