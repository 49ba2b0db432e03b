--- Creates a budget; its name is the only one of its space. `detail` is the audit's.
--- @args name currency scale limitMinor detail tail
--- @reply budget:budget
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/audit"
local replay = call.open()
if replay then return replay end
if redis.call('HEXISTS', keys.budgetNames(), name) == 1 then refuse('BUDGET_EXISTS') end
plan.needOperation()

local record = { id = newId(tail), name = name, currency = currency, scale = scale, createdAt = now,
  limitMinor = limitMinor, reserved = '0', settled = '0', available = limitMinor }
redis.call('HSET', keys.budget(record.id), 'limitMinor', limitMinor, 'reserved', '0', 'settled', '0', 'available', limitMinor,
  'name', name, 'currency', currency, 'scale', scale, 'createdAt', nowText)
redis.call('HSET', keys.budgetNames(), name, record.id)
redis.call('ZADD', keys.budgets(), 0, record.id)
audit('budget.created', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), record.id, detail)
emit.budget.created(record.id, record)
return call.done({ budget = record })
