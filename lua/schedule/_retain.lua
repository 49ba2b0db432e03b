--- @include "lib/retained"
--- @include "schedule/_schedule"
--- @include "scope/_retain"
--- @include "scope/_scope"
--- A schedule that has ended.
retained['schedule:schedule'] = function(scheduleId, at)
  local record = schedule.load(scheduleId)
  if not record then return end
  schedule.remove(record)
  scope.release(record.scopeId, at)
end
