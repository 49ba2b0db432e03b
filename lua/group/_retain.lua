--- @include "lib/retained"
--- @include "scope/_retain"
--- @include "group/_group"
--- A decided group goes with the records of its members; their messages and tombstones have a time of their own.
retained['group:group'] = function(groupId, at)
  local scopeId = group.load(groupId, 'scopeId').scopeId
  local members = redis.call('ZRANGE', keys.groupMembers(groupId), 0, -1)
  for _, taskId in ipairs(members) do redis.call('UNLINK', keys.task(taskId)) end
  redis.call('UNLINK', keys.group(groupId), keys.groupMembers(groupId), keys.taskKeys(groupId))
  redis.call('ZREM', keys.groups(), groupId)
  redis.call('HDEL', keys.scope(scopeId), 'groupId')
  group.leave('DECIDED')
  scope.release(scopeId, at)
  return 1 + #members
end
