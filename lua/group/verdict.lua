--- Records the verdict (ACCEPTED or REJECTED) on a member task, which may decide an undecided group. The first stands.
--- @args groupId taskId verdict
--- @include "lib/call"
--- @include "group/_member"
local replay = call.open()
if replay then return replay end
local record = group.read(groupId)
if not record then refuse('GROUP_NOT_FOUND') end
local taskGroup, known, state, scopeId, messageId = unpack(redis.call('HMGET', keys.task(taskId), 'groupId', 'verdict', 'state', 'scopeId',
  'messageId'))
if taskGroup ~= groupId then refuse('TASK_NOT_FOUND') end
if known == verdict then return call.unchanged(record.state, record.outcome) end
if known then refuse('VERDICT_CONFLICT', known) end
-- The task's record has a state once it is final.
if verdict == 'ACCEPTED' and state ~= 'SUCCEEDED' then refuse('TASK_NOT_SUCCEEDED') end
if not state then refuse('TASK_NOT_TERMINAL') end

redis.call('HSET', keys.task(taskId), 'verdict', verdict)
if state == 'SUCCEEDED' then group.add(record, 'unjudged', -1) end
local what = verdict == 'ACCEPTED' and 'accepted' or 'rejected'
group.add(record, what, 1)
journal.append('task.' .. what, taskId, scopeId, '"groupId":"' .. groupId .. '","messageId":"' .. messageId
  .. '","state":"' .. state .. '","verdict":"' .. verdict .. '"')
group.evaluate(record, now)
return call.done(record.state, record.outcome)
