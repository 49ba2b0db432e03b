--- @include "lib/retained"
--- @include "lib/unit"
--- @include "scope/_retain"
--- @include "schedule/_schedule"
--- A schedule that has ended.
retained['schedule:schedule'] = function(scheduleId, at)
  local record = schedule.load(scheduleId)
  if not record then return end
  schedule.remove(record)
  scope.release(record.scopeId, at)
end
