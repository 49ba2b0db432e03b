--- Adopts the remaining units that a provider reports: raises the used units until no more remain than reported. If
--- none remain, the allowance cools down until the provider's reset, for an hour at most; a longer cooldown is never
--- shortened. resetAt: epoch milliseconds or ''.
--- @request write
--- @args allowanceId remainingUnits resetAt
--- @reply allowance:allowance
--- @include lib/call lib/clock lib/plan lib/records allowance/_allowance
local maxCooldownMs = 3600000
local record = allowance.view(allowanceId)
local used = math.max(record.usedUnits, record.unitsLimit - tonumber(remainingUnits))
local cooldownUntil = remainingUnits == '0' and math.min(tonumber(resetAt) or 0, now + maxCooldownMs) or 0
local cools = cooldownUntil > math.max(now, record.cooldownUntil or 0)
if used == record.usedUnits and not cools then return call.answer({ allowance = record }) end
plan.needOperation()

if used > record.usedUnits then allowance.use(record, used - record.usedUnits) end
emit.allowance.observed(allowanceId, { usedUnits = used, availableUnits = allowance.available(record) })
if cools then
  records.set(record, 'cooldownUntil', cooldownUntil)
  records.set(record, 'cooldownReason', 'OBSERVED')
  emit.allowance.cooldown_started(allowanceId, { seconds = math.ceil((cooldownUntil - now) / 1000) })
end
return call.answer({ allowance = record }, 'operation')
