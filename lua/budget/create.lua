--- Creates a budget; its name is the only one of its space. `detail` is the audit's.
--- @args name currency scale limitMinor detail tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/audit"
local replay = call.open()
if replay then return replay end
if redis.call('HEXISTS', keys.budgetNames(), name) == 1 then refuse('BUDGET_EXISTS') end
plan.needOperation()

local budgetId = newId(tail)
redis.call('HSET', keys.budget(budgetId), 'limitMinor', limitMinor, 'reserved', '0', 'settled', '0', 'available', limitMinor,
  'name', name, 'currency', currency, 'scale', scale, 'createdAt', nowText)
redis.call('HSET', keys.budgetNames(), name, budgetId)
redis.call('ZADD', keys.budgets(), 0, budgetId)
audit('budget.created', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), budgetId, detail)
journal.append('budget.created', budgetId, '', '"limitMinor":"' .. limitMinor .. '"')
return call.done(budgetId, now)
