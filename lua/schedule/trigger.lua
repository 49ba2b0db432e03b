--- Sends a schedule's message now, paused or not; its moments stay as they are.
--- @args scheduleId tail
--- @reply schedule:schedule
--- @include "schedule/_change"
--- @include "schedule/_send"
local replay = room.open()
if replay then return replay end
local record = schedule.current(scheduleId)
if record.state == 'ENDED' then refuse('SCHEDULE_ENDED') end
local box = mailbox.read(record.mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND', "the schedule's mailboxId") end
plan.needOperation()
room.forPayload('payload', record.payload)
local code, detail = room.lack(box, 0, box.mode == 'WORK')
if code == 'BACKLOG_FULL' then refuse('BACKLOG_FULL', detail) end
if code then refuse('ACTIVE_TASKS_LIMITED', detail) end

schedule.send(record, box, now, tail)
return call.done({ schedule = record })
