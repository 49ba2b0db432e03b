--- Creates an allowance; its name is unique in the space. `detail` is the audit's.
--- @args name unitsLimit windowSeconds tail detail
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
journal.append('allowance.created', allowanceId, '', '"unitsLimit":' .. unitsLimit .. ',"windowSeconds":' .. windowSeconds)
audit('allowance.created', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), allowanceId, detail)
return call.done(unpack(allowance.view(allowance.read(allowanceId, now))))
