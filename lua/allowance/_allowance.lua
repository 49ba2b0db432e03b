--- @record allowance
--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/sorted"
--- An allowance as it stands at a moment: its fixed window (aligned to the Unix epoch), units used, cooldown.

--- Brings what is stored to the moment `at`. Never before the window that was counted last: units that were handed out
--- stay counted, even where a clock goes back.
local function bring(record, at)
  local windowMs, countedFrom = record.windowSeconds * 1000, record.windowStartedAt
  local startedAt = math.max(at - at % windowMs, countedFrom)
  record.windowStartedAt, record.windowEndsAt = startedAt, startedAt + windowMs
  if startedAt > countedFrom then record.usedUnits, record.isNewWindow = 0, true end
  if (record.cooldownUntil or 0) <= at then record.cooldownUntil, record.cooldownReason = false, false end
  return record
end

--- The allowance at the moment `at`, as far as units are concerned.
function allowance.read(allowanceId, at)
  local record = allowance.load(allowanceId, 'unitsLimit', 'windowSeconds', 'windowStartedAt', 'usedUnits', 'cooldownUntil')
  return bring(record or refuse('ALLOWANCE_NOT_FOUND'), at)
end

--- All of it as it stands now.
function allowance.view(allowanceId)
  local record = bring(allowance.load(allowanceId) or refuse('ALLOWANCE_NOT_FOUND'), now)
  record.waiting = sorted.count(keys.liveWaiters(allowanceId))
  return record
end

--- The earliest moment at which so many units can be had if nobody takes any before; 0 when at once.
function allowance.nextMoment(record, units)
  local cooled = record.cooldownUntil or 0
  if record.unitsLimit - record.usedUnits >= units then return cooled end
  return math.max(cooled, record.windowEndsAt)
end

--- Uses units of the window that the record stands in.
function allowance.use(record, units)
  if record.isNewWindow then records.set(record, 'windowStartedAt', record.windowStartedAt) end
  records.set(record, 'usedUnits', record.usedUnits + units)
end
