--- @include "lib/space"
--- An allowance as it stands at a moment: its fixed window (aligned to the Unix epoch), units used, cooldown.
local allowance = {}

--- The allowance at the moment `at`; nil when there is none. Never before the window that was counted last: units that
--- were handed out stay counted, even where a clock goes back.
function allowance.read(allowanceId, at)
  local values = redis.call('HMGET', keys.allowance(allowanceId), 'unitsLimit', 'windowSeconds', 'windowStartedAt', 'usedUnits',
    'cooldownUntil', 'cooldownReason', 'name', 'createdAt')
  if not values[1] then return nil end
  local windowMs, countedFrom, cooldownUntil = values[2] * 1000, tonumber(values[3]), tonumber(values[5])
  local windowStartedAt = math.max(at - at % windowMs, countedFrom)
  local cooling = cooldownUntil > at
  return { id = allowanceId, unitsLimit = tonumber(values[1]), windowSeconds = values[2],
    windowStartedAt = windowStartedAt, isCounted = windowStartedAt == countedFrom, windowEndsAt = windowStartedAt + windowMs,
    usedUnits = windowStartedAt == countedFrom and tonumber(values[4]) or 0,
    cooldownUntil = cooling and cooldownUntil, cooldownReason = cooling and values[6], name = values[7], createdAt = values[8] }
end

--- What the list and the view answer of it.
function allowance.view(record)
  return { record.name, record.unitsLimit, record.windowSeconds, record.windowStartedAt, record.usedUnits, record.cooldownUntil,
    record.cooldownReason, redis.call('ZCARD', keys.liveWaiters(record.id)), record.createdAt, record.id }
end

--- The earliest moment at which so many units can be had if nobody takes any before; 0 when at once.
function allowance.nextMoment(record, units)
  local cooled = record.cooldownUntil or 0
  if record.unitsLimit - record.usedUnits >= units then return cooled end
  return math.max(cooled, record.windowEndsAt)
end

--- Uses units of the window that the record stands in.
function allowance.use(record, units)
  record.usedUnits = record.usedUnits + units
end

function allowance.save(record)
  redis.call('HSET', keys.allowance(record.id), 'windowStartedAt', record.windowStartedAt, 'usedUnits', record.usedUnits)
end
