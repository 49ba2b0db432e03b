--- @include lib/hooks lib/page schedule/_schedule scope/_ending

function schedule.stop(record, cancel)
  schedule.finish(record, ending.count(cancel, 'endedSchedules'))
end

cancels.schedules = { total = 'endedSchedules' }

function cancels.schedules.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeSchedules(scopeId), last, maxRecords)
end

function cancels.schedules.stop(id, cancel)
  local record = schedule.load(id, 'scopeId', 'mailboxId', 'state', 'nextAt')
  if record.state == 'ENDED' then return 0 end
  schedule.stop(record, cancel)
  return 1
end
