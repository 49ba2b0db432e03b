--- @include "group/_group"
--- @include "group/_task"
--- What reads show of a group.

--- Its fields, its members in the order they became members, and its id; and the bytes of the members' outcomes.
function group.view(record)
  local members, bytes = {}, 0
  for i, taskId in ipairs(redis.call('ZRANGE', keys.groupMembers(record.id), 0, -1)) do
    local member = redis.call('HMGET', keys.task(taskId), 'messageId', 'taskKey', 'verdict', 'deadline', 'state', 'reason', 'attempts')
    local state, attempts, outcome = unpack(redis.call('HMGET', keys.message(member[1]), 'state', 'attempts', 'result'))
    -- A message goes before its task does: then only the task's record says how it ended.
    if not member[5] then member[5], member[7] = task.state(state), attempts or '0' end
    member[8], member[9] = outcome, taskId
    members[i], bytes = member, bytes + (outcome and #outcome or 0)
  end
  return { record.values, members, record.id }, bytes
end
