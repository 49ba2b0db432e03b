--- Deletes a schedule. Messages already sent stay.
--- @request write
--- @args sweptSchedule scheduleId
--- @reply
--- @include lib/audit lib/call lib/caller lib/clock lib/finished lib/plan schedule/_change schedule/_schedule
local record = schedule.current(scheduleId, sweptSchedule)
plan.needOperation()

schedule.remove(record)
finished.add('scope:scope', record.scopeId, nowText)
emit.schedule.deleted(scheduleId, record)
audit('schedule.deleted', caller.actor(), scheduleId, inSpace())
return call.answer(nil, 'operation')
