--- @include lib/again lib/clock lib/id lib/refuse schedule/_cancel schedule/_schedule scope/_scope

--- The first moment after now. For a cron expression Node computes it: known.nextAt is the first moment after
--- known.after, and stays valid while now is between the two. everySeconds counts from the schedule's creation, the
--- time of its id.
function schedule.following(id, cron, everySeconds, timezone, known)
  if everySeconds then
    local everyMs, createdAt = 1000 * everySeconds, momentOf(id)
    return createdAt + everyMs * math.max(1, math.floor((now - createdAt) / everyMs) + 1)
  end
  local at, from = tonumber(known.nextAt), tonumber(known.after)
  if not at or now < from or now >= at then again('MOMENT_UNKNOWN', nowText .. ' ' .. timezone .. ' ' .. cron) end
  return at
end

--- Preparation of every call that changes a schedule.

--- The current schedule. If moments are due, sends the call back for Node to fire them. sweptSchedule: the moment up
--- to which they have been fired.
function schedule.current(scheduleId, sweptSchedule)
  local record = schedule.load(scheduleId) or refuse('SCHEDULE_NOT_FOUND')
  local cancel = record.state ~= 'ENDED' and scope.cancelFor(record)
  if cancel then schedule.stop(record, cancel) end
  if record.nextAt and record.nextAt <= (tonumber(sweptSchedule) or now) then again('SCHEDULE_DUE') end
  return record
end
