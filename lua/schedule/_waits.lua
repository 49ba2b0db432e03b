--- @include lib/waiting schedule/_schedule

--- ACTIVE schedules, the earliest next moment first.
function waiting.schedules(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.nextSchedules(), 0, maxRows), maxRows, function(id)
    return rows.waitingSchedule(schedule.load(id, 'name', 'mailboxId', 'scopeId', 'nextAt', 'lastAt', 'missed'))
  end)
end
