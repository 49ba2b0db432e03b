--- @include lib/clock lib/id lib/sendBack schedule/_schedule

--- The first moment after now. For a cron expression Node computes it: known.nextAt is the first moment after known.after,
--- and stays valid while now is between the two. everySeconds counts from the schedule's creation, the time of its id.
function schedule.following(id, cron, everySeconds, timezone, known)
  if everySeconds then
    local everyMs, createdAt = 1000 * everySeconds, momentOf(id)
    return createdAt + everyMs * math.max(1, math.floor((now - createdAt) / everyMs) + 1)
  end
  local at, from = tonumber(known.nextAt), tonumber(known.after)
  if not at or now < from or now >= at then sendBack('MOMENT_UNKNOWN', nowText .. ' ' .. timezone .. ' ' .. cron) end
  return at
end
