--- @args after nextAt
--- @include "lib/call"
--- @include "schedule/_schedule"

--- The first moment after now. Of a cron expression Node computes it: nextAt is the first one after `after`, and still is
--- while the clock stands between them. everySeconds counts from the creation, the moment of the id.
function schedule.following(id, cron, everySeconds, timezone)
  if everySeconds then
    local everyMs, createdAt = 1000 * everySeconds, momentOf(id)
    return createdAt + everyMs * math.max(1, math.floor((now - createdAt) / everyMs) + 1)
  end
  local at, from = tonumber(nextAt), tonumber(after)
  if not at or now < from or now >= at then call.sendBack('MOMENT_UNKNOWN', nowText .. ' ' .. timezone .. ' ' .. cron) end
  return at
end
