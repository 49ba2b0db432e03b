--- @include lib/hooks lib/maps lib/records lib/sorted lib/unit group/_group scope/_retain scope/_scope
--- Removes a decided group with the records of its members. Their messages and tombstones have their own retention.
retained['group:group'] = function(groupId, at)
  local record = group.load(groupId, 'scopeId', 'workKey')
  local scopeId = record.scopeId
  if record.workKey then maps.remove(keys.groupWorkKeys(), record.workKey) end
  local members = redis.call('ZRANGE', keys.groupMembers(groupId), 0, -1)
  for _, taskId in ipairs(members) do unit.delete(keys.task(taskId)) end
  unit.delete(keys.group(groupId), keys.groupMembers(groupId), keys.taskKeys(groupId))
  sorted.remove(keys.groups(), groupId)
  records.put(keys.scope(scopeId), 'groupId', false)
  group.leave('DECIDED')
  scope.release(scopeId, at)
  return 1 + #members
end
