--- @include lib/clock lib/refuse lib/sendBack schedule/_cancel schedule/_schedule scope/_scope
--- What calls that change a schedule begin with.

--- The schedule, with all that was due of it made real; firing it is Node's to do. drainedSchedule: the moment up to which
--- it has been fired.
function schedule.current(scheduleId, drainedSchedule)
  local record = schedule.load(scheduleId) or refuse('SCHEDULE_NOT_FOUND')
  local cancel = record.state ~= 'ENDED' and scope.cancelOf(scope.path(record.scopeId))
  if cancel then schedule.stop(record, cancel) end
  if record.nextAt and record.nextAt <= (tonumber(drainedSchedule) or now) then sendBack('SCHEDULE_DUE') end
  return record
end
