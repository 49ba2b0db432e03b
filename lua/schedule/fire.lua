--- Fires a schedule whose next moment is still `nextAt`, and sets the following one. Sends the message of `moment`, the
--- last moment that has passed; the `missed` moments before it are only counted. If the send is refused, an event says
--- so. No request causes this call, so lib/call's arguments about the caller are empty.
--- @request worker
--- @args scheduleId nextAt moment missed following workKey traceparent tail
--- @reply
--- @gather
--- @include lib/call lib/clock lib/maps lib/plan lib/records lib/usage lib/volume mailbox/_mailbox
--- @include mailbox/_message mailbox/_send schedule/_cancel schedule/_schedule schedule/_send scope/_scope
local record = schedule.load(scheduleId)
if not record or record.nextAt ~= tonumber(nextAt) or tonumber(moment) > now then return call.answer() end
local cancel = scope.cancelFor(record)
if cancel then
  schedule.stop(record, cancel)
  return call.answer()
end

schedule.arm(record, tonumber(following))
if missed ~= '0' then records.set(record, 'missed', record.missed + missed) end
local box = mailbox.read(record.mailboxId)
-- This moment was fired before the clock was set back.
if box and maps.get(keys.workKeys(record.mailboxId), workKey) then return call.answer() end
local code = not box and 'MAILBOX_NOT_FOUND' or not plan.hasOperation(0) and 'OPERATIONS_EXHAUSTED'
  or capacity.isTooLarge(record.payload) and 'PAYLOAD_TOO_LARGE' or capacity.lack(box, 0, box.mode == 'WORK')
  or volume.lack(#record.payload) and 'RETAINED_BYTES_EXCEEDED'
if code then
  emit.schedule.refused(scheduleId, { scopeId = record.scopeId, mailboxId = record.mailboxId, state = record.state,
    code = code, missed = record.missed })
else
  schedule.send(record, box, tonumber(moment), tail, message.traced(traceparent, ''), workKey)
  usage.countOperation(callName)
end
return call.answer()
