--- Closes the membership of a group, which may decide it. Any later seal answers what the first one did.
--- @args groupId
--- @include "lib/call"
--- @include "group/_member"
local replay = call.open()
if replay then return replay end
local record = group.read(groupId)
if not record then refuse('GROUP_NOT_FOUND') end
if record.sealedAt then return call.unchanged(record.sealOutcome) end
if record.state == 'DECIDED' or group.isOverdue(record, now) then refuse('GROUP_DECIDED', record.outcome or 'EXPIRED') end

group.enter(record, 'SEALED')
redis.call('HSET', keys.group(groupId), 'sealedAt', nowText)
group.tell(record, 'sealed')
group.evaluate(record, now)
if record.outcome then redis.call('HSET', keys.group(groupId), 'sealOutcome', record.outcome) end
return call.done(record.outcome)
