--- @include lib/hooks schedule/_schedule scope/_retain scope/_scope
retained['schedule:schedule'] = function(scheduleId, at)
  local record = schedule.load(scheduleId)
  if not record then return end
  schedule.remove(record)
  scope.release(record.scopeId, at)
end
