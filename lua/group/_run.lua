--- @include "lib/inRun"
--- @include "lib/scope"
--- @include "group/_view"
inRun.groups = {}

--- A scope belongs to one group at most: it is the gate of that group.
function inRun.groups.ids(scopeId)
  return { redis.call('HGET', keys.scope(scopeId), 'groupId') or nil }
end

--- A group with its members, but for their outcomes; and how many they are.
function inRun.groups.row(id)
  local record = group.summary(group.load(id))
  return rows.taskGroupSummary(record), #record.tasks
end
