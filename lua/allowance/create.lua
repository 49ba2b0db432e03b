--- Creates an allowance; its name is unique in the space. detail: for the audit trail.
--- @request write
--- @args name unitsLimit windowSeconds tail detail
--- @reply allowance:allowance
--- @include lib/audit lib/call lib/caller lib/clock lib/id lib/maps lib/plan lib/refuse lib/sorted
--- @include allowance/_allowance
if maps.get(keys.allowanceNames(), name) then refuse('ALLOWANCE_EXISTS') end
plan.needOperation()

local allowanceId = newId(tail)
allowance.insert({ id = allowanceId, name = name, unitsLimit = tonumber(unitsLimit),
  windowSeconds = tonumber(windowSeconds), windowStartedAt = now - now % (windowSeconds * 1000), usedUnits = 0,
    createdAt = now })
sorted.add(keys.allowances(), '0', allowanceId)
maps.put(keys.allowanceNames(), name, allowanceId)
local record = allowance.view(allowanceId)
emit.allowance.created(allowanceId, record)
audit('allowance.created', caller.actor(), allowanceId, detail)
return call.answer({ allowance = record }, 'operation')
