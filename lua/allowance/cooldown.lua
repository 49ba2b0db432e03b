--- Blocks consumption and grants for some seconds from now; never shortens a cooldown. The timer of the next grant
--- stays armed: when it fires during the cooldown, it is armed again for the cooldown's end.
--- @request write
--- @args allowanceId seconds reason
--- @reply allowanceId cooldownUntil reason
--- @include lib/call lib/clock lib/plan lib/records allowance/_allowance
local record = allowance.view(allowanceId)
local cooldownUntil = now + seconds * 1000
if record.cooldownUntil and record.cooldownUntil >= cooldownUntil then
  return call.answer({ allowanceId = allowanceId, cooldownUntil = record.cooldownUntil,
    reason = record.cooldownReason })
end
plan.needOperation()

records.set(record, 'cooldownUntil', cooldownUntil)
records.set(record, 'cooldownReason', reason)
emit.allowance.cooldown_started(allowanceId, { seconds = seconds })
return call.answer({ allowanceId = allowanceId, cooldownUntil = cooldownUntil, reason = reason }, 'operation')
