--- Corrects a consumption, or a waiter's grant, to the units really used. While its window lasts, the difference is
--- consumed or given back, and waiters that now fit are granted. After the window, only the sums of its run change.
--- @request write
--- @args allowanceId consumptionId units
--- @reply id units settledUnits availableUnits replay
--- @include lib/call lib/clock lib/hooks lib/refuse allowance/_allowance allowance/_consumption allowance/_serve
local record = allowance.view(allowanceId)
local found = consumption.find(allowanceId, consumptionId) or refuse('CONSUMPTION_NOT_FOUND')
local settled = tonumber(units)

local function answer(replay, counts)
  return call.answer({ id = consumptionId, units = found.units, settledUnits = settled, replay = replay,
    availableUnits = allowance.available(record) }, counts)
end

if found.settledUnits then
  if found.settledUnits ~= settled then refuse('CONSUMPTION_SETTLED', found.settledUnits) end
  return answer(true, 'syscall')
end

local difference = settled - found.units
consumption.settle(found, settled)
local isCurrent = found.at >= record.windowStartedAt
if isCurrent and difference ~= 0 then allowance.use(record, difference) end
emit.allowance.settled(allowanceId, { scopeId = found.scopeId, consumptionId = consumptionId, units = found.units,
  settledUnits = settled, availableUnits = allowance.available(record) })
if isCurrent and difference < 0 then
  if record.waiting > 0 then serveWaiters(allowanceId, now, 25) else freed.units('ALLOWANCE', allowanceId) end
end
return answer(false, 'operation')
