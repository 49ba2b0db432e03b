--- Deletes a schedule; what it has sent stays.
--- @args scheduleId
--- @reply
--- @include "schedule/_change"
local replay = room.open()
if replay then return replay end
local record = schedule.current(scheduleId)
plan.needOperation()

schedule.remove(record)
finished.add('scope:scope', record.scopeId, nowText)
emit.schedule.deleted(scheduleId, record)
return call.done()
