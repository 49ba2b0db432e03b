--- @export window
--- Retention periods. Messages are kept for the current plan's window, most other records for the window or 30 days,
--- whichever is longer, and some records for the same time on every plan.
local day = 86400000
local window = { reservations = 400 * day, usageDays = 400, audit = 365 * day }

--- The plan's window, and the longer of it and 30 days, in milliseconds; infinite if the plan sets no limit.
function window.ofPlan()
  local days = tonumber(redis.call('HGET', keys.org(), 'retentionDays')) or math.huge
  return days * day, math.max(days, 30) * day
end
