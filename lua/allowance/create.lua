--- Creates an allowance; its name is unique in the space. `detail` is the audit's.
--- @args name unitsLimit windowSeconds tail detail
--- @reply allowance:allowance
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/audit"
--- @include "allowance/_allowance"
local replay = call.open()
if replay then return replay end
if redis.call('HEXISTS', keys.allowanceNames(), name) == 1 then refuse('ALLOWANCE_EXISTS') end
plan.needOperation()

local allowanceId = newId(tail)
redis.call('HSET', keys.allowance(allowanceId), 'name', name, 'unitsLimit', unitsLimit, 'windowSeconds', windowSeconds,
  'windowStartedAt', now - now % (windowSeconds * 1000), 'usedUnits', 0, 'cooldownUntil', 0, 'cooldownReason', '', 'createdAt', now)
redis.call('ZADD', keys.allowances(), 0, allowanceId)
redis.call('HSET', keys.allowanceNames(), name, allowanceId)
local record = allowance.view(allowanceId)
emit.allowance.created(allowanceId, record)
audit('allowance.created', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), allowanceId, detail)
return call.done({ allowance = record })
