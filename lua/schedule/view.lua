--- A schedule.
--- @args scheduleId
--- @reply schedule:schedule
--- @include "lib/call"
--- @include "schedule/_schedule"
call.read()
return call.answer({ schedule = schedule.view(scheduleId) or refuse('SCHEDULE_NOT_FOUND') })
