--- Changes the units of each window, the current one included; waiters that now fit are granted in the same step.
--- Refuses a limit below the units that any waiter asks for, as that waiter could never be granted; waiters of
--- cancelled runs that ask for more are ended first. detail: for the audit trail.
--- @request write
--- @args allowanceId unitsLimit detail
--- @reply allowance:allowance
--- @include lib/audit lib/call lib/caller lib/clock lib/hooks lib/plan lib/queue lib/records lib/refuse
--- @include allowance/_allowance allowance/_cancel allowance/_serve allowance/_waiter
local record = allowance.view(allowanceId)
local wanted = tonumber(unitsLimit)
if wanted == record.unitsLimit then return call.answer({ allowance = record }) end
local least = queue.above('allowance:waiter', allowanceId, unitsLimit)
if least then refuse('LIMIT_BELOW_USE', 'unitsLimit ' .. string.format('%d', least)) end
plan.needOperation()

local isMore = wanted > record.unitsLimit
records.set(record, 'unitsLimit', wanted)
emit.allowance.limit_changed(allowanceId, record)
audit('allowance.limit_changed', caller.actor(), allowanceId, detail)
if isMore and record.waiting > 0 then
  serveWaiters(allowanceId, now, 25)
elseif isMore then
  freed.units('ALLOWANCE', allowanceId)
end
return call.answer({ allowance = allowance.view(allowanceId) }, 'operation')
