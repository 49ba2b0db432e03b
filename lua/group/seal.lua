--- Closes a group to new members. This may decide the group. A later seal returns the outcome of the first one.
--- @request write
--- @args groupId
--- @reply outcome
--- @include lib/call lib/clock lib/records lib/refuse group/_decide group/_group scope/_scope
local record = group.read(groupId)
if record.sealedAt then return call.answer({ outcome = record.sealOutcome }) end
local cancel = record.state ~= 'DECIDED' and scope.cancelFor(record)
if cancel and not group.isOverdue(record, cancel.cancelledAt) then refuse('GROUP_DECIDED', 'CANCELLED') end
if record.state == 'DECIDED' or group.isOverdue(record, now) then
  refuse('GROUP_DECIDED', record.outcome or 'EXPIRED')
end

group.enter(record, 'SEALED')
records.set(record, 'sealedAt', now)
emit.group.sealed(groupId, record)
group.evaluate(record, now)
if record.outcome then records.set(record, 'sealOutcome', record.outcome) end
return call.answer({ outcome = record.outcome }, 'operation')
