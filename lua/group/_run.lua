--- @include "lib/inRun"
--- @include "scope/_scope"
--- @include "group/_view"
inRun.groups = {}

--- The group whose gate the scope is, if it is one.
local function groupOf(scopeId)
  local record = scope.load(scopeId, 'path', 'groupId')
  return record and record.groupId
end

function inRun.groups.ids(scopeId)
  return { groupOf(scopeId) or nil }
end

--- A gate stays as long as its group.
function inRun.groups.holds(scopeId)
  return groupOf(scopeId)
end

--- A group with its members, but for their outcomes; and how many they are.
function inRun.groups.row(id)
  local record = group.summary(group.load(id))
  return rows.taskGroupSummary(record), #record.tasks
end
