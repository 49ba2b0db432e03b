--- The organization's due schedules, at most `maxSchedules` after the first `skipped`; or the one with this id if it is
--- due. nextDue: the next moment of all, if none is due.
--- @args spaceId requestId scheduleId skipped maxSchedules
--- @reply now nextDue schedules:dueSchedule[]
--- @include lib/clock lib/space schedule/_schedule
local members
if scheduleId ~= '' then
  members = keyspace.find() and { spaceNumber .. ':' .. scheduleId } or {}
else
  members = redis.call('ZRANGE', keys.scheduleTimers(), '-inf', nowText, 'BYSCORE', 'LIMIT', skipped, maxSchedules)
end
local due = {}
for _, member in ipairs(members) do
  local number, id = string.match(member, '^(%d+):(.*)$')
  if number ~= spaceNumber then keyspace.turnTo(number) end
  local record = spaceNumber and schedule.load(id, 'nextAt', 'cron', 'everySeconds', 'timezone')
  if record and record.nextAt and record.nextAt <= now then
    record.spaceId = spaceId
    due[#due + 1] = record
  end
end
local first = not due[1] and redis.call('ZRANGE', keys.scheduleTimers(), skipped, skipped, 'WITHSCORES')[2]
return { now = now, nextDue = first or '', schedules = due }
