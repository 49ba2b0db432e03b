--- @include lib/inRun schedule/_schedule
inRun.schedules = {}

function inRun.schedules.index(scopeId)
  return keys.scopeSchedules(scopeId)
end

function inRun.schedules.row(id)
  return rows.scheduleSummary(schedule.view(id))
end
