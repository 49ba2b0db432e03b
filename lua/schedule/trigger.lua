--- Sends a schedule's message now, even if it is paused. Its moments do not change.
--- @request write
--- @args sweptSchedule scheduleId traceparent tracestate tail
--- @reply schedule:schedule
--- @include lib/call lib/clock lib/plan lib/refuse lib/volume mailbox/_mailbox mailbox/_message mailbox/_send
--- @include schedule/_change schedule/_schedule schedule/_send
local record = schedule.current(scheduleId, sweptSchedule)
if record.state == 'ENDED' then refuse('SCHEDULE_ENDED') end
local box = mailbox.read(record.mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND', "the schedule's mailboxId") end
plan.needOperation()
capacity.forPayload('payload', record.payload)
local code, detail = capacity.lack(box, 0, box.mode == 'WORK')
if code == 'BACKLOG_FULL' then refuse('BACKLOG_FULL', detail) end
if code then refuse('ACTIVE_TASKS_LIMITED', detail) end
volume.need(#record.payload)

schedule.send(record, box, now, tail, message.traced(traceparent, tracestate))
return call.answer({ schedule = record }, 'operation')
