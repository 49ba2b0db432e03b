--- @record schedule
--- @include lib/clock lib/finished lib/maps lib/records lib/sorted lib/space lib/timer lib/unit scope/_scope
--- A schedule and its next moment, which is in two sets: the space's, and the organization's, which workers watch
--- (src/primitives/schedule/firing.ts) and no call waits for.

--- The whole schedule at the current time: in a cancelled run it has ended, swept or not. nil if there is none.
function schedule.view(scheduleId)
  local record = schedule.load(scheduleId)
  if record and record.state ~= 'ENDED' and scope.cancelFor(record) then
    record.state, record.nextAt = 'ENDED', false
  end
  return record
end

local function memberOf(scheduleId)
  return spaceNumber .. ':' .. scheduleId
end

--- Sets the next moment; false for none.
function schedule.arm(record, at)
  records.set(record, 'nextAt', at)
  if at then
    local text = string.format('%d', at)
    sorted.add(keys.nextSchedules(), text, record.id)
    sorted.add(keys.scheduleTimers(), text, memberOf(record.id))
    timer.announce(at, text)
  else
    sorted.remove(keys.nextSchedules(), record.id)
    sorted.remove(keys.scheduleTimers(), memberOf(record.id))
  end
end

--- Ends an ACTIVE or PAUSED schedule of a cancelled run.
function schedule.finish(record, cause)
  schedule.arm(record, false)
  schedule.enter(record, 'ENDED')
  finished.add('schedule:schedule', record.id, nowText)
  emit.schedule.updated(record.id, record, cause)
end

--- Removes a schedule with all its entries.
function schedule.remove(record)
  if record.nextAt then schedule.arm(record, false) end
  if record.state == 'ENDED' then finished.remove('schedule:schedule', record.id) end
  maps.remove(keys.scheduleNames(), record.name)
  sorted.remove(keys.schedules(), record.id)
  sorted.remove(keys.scopeSchedules(record.scopeId), record.id)
  schedule.leave(record.state)
  unit.delete(keys.schedule(record.id))
end
