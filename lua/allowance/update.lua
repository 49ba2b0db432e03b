--- Changes the units of each window, the present one included; waiters that fit now are granted in the same step. Never
--- fewer than a waiter asks for, which would wait for nothing. `detail` is the audit's.
--- @args allowanceId unitsLimit detail
--- @reply allowance:allowance
--- @include "lib/call"
--- @include "lib/audit"
--- @include "allowance/_serve"
local replay = call.open()
if replay then return replay end
local record = allowance.view(allowanceId)
local wanted = tonumber(unitsLimit)
if wanted == record.unitsLimit then return call.unchanged({ allowance = record }) end
local most = tonumber(redis.call('ZRANGE', keys.waiterUnits(allowanceId), 0, 0, 'REV', 'WITHSCORES')[2]) or 0
if wanted < most then refuse('LIMIT_BELOW_USE', 'unitsLimit ' .. string.format('%d', most)) end
plan.needOperation()

local isMore = wanted > record.unitsLimit
records.set(record, 'unitsLimit', wanted)
emit.allowance.limit_changed(allowanceId, record)
audit('allowance.limit_changed', caller.keyId(), allowanceId, detail)
if isMore and record.waiting > 0 then serve(allowanceId, now, 25) end
return call.done({ allowance = allowance.view(allowanceId) })
