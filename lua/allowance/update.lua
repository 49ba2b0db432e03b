--- Changes the units of each window, the present one included; waiters that fit now are granted in the same step. Never
--- fewer than a waiter asks for, which would wait for nothing; waiters of cancelled runs that want more are ended first.
--- `detail` is the audit's.
--- @request write
--- @args allowanceId unitsLimit detail
--- @reply allowance:allowance
--- @include lib/audit lib/call lib/caller lib/clock lib/plan lib/records lib/refuse lib/sendBack allowance/_serve
--- @include allowance/_allowance allowance/_cancel allowance/_waiter scope/_scope
-- About as many as a step of a cancel.
local maxStops = 250
local record = allowance.view(allowanceId)
local wanted = tonumber(unitsLimit)
if wanted == record.unitsLimit then return call.answer({ allowance = record }) end
local above, stopped = redis.call('ZRANGE', keys.waiterUnits(allowanceId), '+inf', '(' .. unitsLimit, 'BYSCORE', 'REV',
  'LIMIT', 0, maxStops), false
for _, id in ipairs(above) do
  local one = waiter.read(id)
  local cancel = scope.cancelOf(scope.path(one.scopeId))
  if not cancel then refuse('LIMIT_BELOW_USE', 'unitsLimit ' .. string.format('%d', one.units)) end
  waiter.unqueue(one, cancel)
  stopped = true
end
if stopped then
  call.keep()
  sendBack('DUE')
end
plan.needOperation()

local isMore = wanted > record.unitsLimit
records.set(record, 'unitsLimit', wanted)
emit.allowance.limit_changed(allowanceId, record)
audit('allowance.limit_changed', caller.keyId(), allowanceId, detail)
if isMore and record.waiting > 0 then serveWaiters(allowanceId, now, 25) end
return call.answer({ allowance = allowance.view(allowanceId) }, 'operation')
