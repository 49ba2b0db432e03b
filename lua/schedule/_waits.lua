--- @include lib/waiting schedule/_schedule

--- ACTIVE schedules, the next to come first.
function waiting.schedules(maxRows)
  local ids, list = redis.call('ZRANGE', keys.nextSchedules(), 0, maxRows), {}
  for i = 1, math.min(maxRows, #ids) do
    list[i] = rows.waitingSchedule(schedule.load(ids[i], 'name', 'mailboxId', 'scopeId', 'nextAt', 'lastAt', 'missed'))
  end
  return list, #ids > maxRows
end
