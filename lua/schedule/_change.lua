--- @include lib/clock lib/refuse lib/sendBack schedule/_cancel schedule/_schedule scope/_scope
--- Preparation of every call that changes a schedule.

--- The current schedule. If moments are due, sends the call back for Node to fire them. drainedSchedule: the moment up to
--- which they have been fired.
function schedule.current(scheduleId, drainedSchedule)
  local record = schedule.load(scheduleId) or refuse('SCHEDULE_NOT_FOUND')
  local cancel = record.state ~= 'ENDED' and scope.cancelFor(record)
  if cancel then schedule.stop(record, cancel) end
  if record.nextAt and record.nextAt <= (tonumber(drainedSchedule) or now) then sendBack('SCHEDULE_DUE') end
  return record
end
