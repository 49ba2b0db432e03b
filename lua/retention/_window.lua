--- @include "lib/clock"
--- How long things are kept (contract section 4): the plan's window as it is now, never less than 30 days for what is
--- more than a message, and what is the same on every plan.
local day = 86400000
local window = { reservations = 400 * day, usageDays = 400, audit = 365 * day }

--- The plan's window and the longer of it and 30 days, in milliseconds; infinite where the plan sets no limit.
function window.ofPlan()
  local days = tonumber(redis.call('HGET', keys.org(), 'retentionDays')) or math.huge
  return days * day, math.max(days, 30) * day
end
