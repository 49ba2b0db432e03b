--- Creates an allowance; its name is unique in the space. detail: for the audit trail.
--- @args name unitsLimit windowSeconds tail detail
--- @reply allowance:allowance
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/audit"
--- @include "allowance/_allowance"
local replay = call.open()
if replay then return replay end
if maps.get(keys.allowanceNames(), name) then refuse('ALLOWANCE_EXISTS') end
plan.needOperation()

local allowanceId = newId(tail)
allowance.insert({ id = allowanceId, name = name, unitsLimit = tonumber(unitsLimit), windowSeconds = tonumber(windowSeconds),
  windowStartedAt = now - now % (windowSeconds * 1000), usedUnits = 0, createdAt = now })
sorted.add(keys.allowances(), '0', allowanceId)
maps.put(keys.allowanceNames(), name, allowanceId)
local record = allowance.view(allowanceId)
emit.allowance.created(allowanceId, record)
audit('allowance.created', caller.keyId(), allowanceId, detail)
return call.done({ allowance = record })
