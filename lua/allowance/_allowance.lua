--- @record allowance
--- @include lib/clock lib/records lib/refuse lib/sorted
--- An allowance at a given time: its fixed window (aligned to the Unix epoch), used units and cooldown.

--- Advances a stored record to the time `at`, but never to a window before the last counted one, so used units stay
--- counted even if the clock goes back.
local function advance(record, at)
  local windowMs, countedFrom = record.windowSeconds * 1000, record.windowStartedAt
  local startedAt = math.max(at - at % windowMs, countedFrom)
  record.windowStartedAt, record.windowEndsAt = startedAt, startedAt + windowMs
  if startedAt > countedFrom then record.usedUnits, record.isNewWindow = 0, true end
  if (record.cooldownUntil or 0) <= at then record.cooldownUntil, record.cooldownReason = false, false end
  return record
end

--- The allowance at the time `at`, with the fields that units depend on.
function allowance.read(allowanceId, at)
  local record = allowance.load(allowanceId, 'unitsLimit', 'windowSeconds', 'windowStartedAt', 'usedUnits',
    'cooldownUntil')
  return advance(record or refuse('ALLOWANCE_NOT_FOUND'), at)
end

--- The whole allowance as it is now.
function allowance.view(allowanceId)
  local record = advance(allowance.load(allowanceId) or refuse('ALLOWANCE_NOT_FOUND'), now)
  record.waiting = sorted.count(keys.liveWaiters(allowanceId))
  return record
end

--- The earliest time at which this many units can be granted if nobody uses any until then; 0 if now.
function allowance.nextMoment(record, units)
  local cooled = record.cooldownUntil or 0
  if record.unitsLimit - record.usedUnits >= units then return cooled end
  return math.max(cooled, record.windowEndsAt)
end

--- The units left in the record's current window; 0 if more were used than it has.
function allowance.available(record)
  return math.max(0, record.unitsLimit - record.usedUnits)
end

--- Uses units of the record's current window.
function allowance.use(record, units)
  if record.isNewWindow then records.set(record, 'windowStartedAt', record.windowStartedAt) end
  records.set(record, 'usedUnits', record.usedUnits + units)
end
