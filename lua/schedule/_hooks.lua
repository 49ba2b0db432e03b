--- @include lib/caller lib/guards lib/hooks schedule/_schedule
--- What the room adds to the work of others: see lib/hooks.

inRun.schedules = {}

function inRun.schedules.index(scopeId)
  return keys.scopeSchedules(scopeId)
end

function inRun.schedules.row(id)
  return rows.scheduleSummary(schedule.view(id))
end

--- ACTIVE schedules, the earliest next moment first.
function waiting.schedules(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.nextSchedules(), 0, maxRows), maxRows, function(id)
    return rows.waitingSchedule(schedule.load(id, '@waitingSchedule'))
  end)
end

--- The next moment of the space's schedules; false if there is none.
function gauges.nextScheduleAt()
  return tonumber(redis.call('ZRANGE', keys.nextSchedules(), 0, 0, 'WITHSCORES')[2]) or false
end

--- For a caller limited to mailboxes.
function guards.scheduleId(scheduleId)
  local record = schedule.load(scheduleId, 'mailboxId')
  if record then caller.needMailbox(record.mailboxId) end
end
