--- A schedule.
--- @request read
--- @args scheduleId
--- @reply schedule:schedule
--- @include lib/call lib/refuse schedule/_schedule
return call.answer({ schedule = schedule.view(scheduleId) or refuse('SCHEDULE_NOT_FOUND') })
