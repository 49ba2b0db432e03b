--- @include lib/inRun group/_group group/_view scope/_scope
inRun.groups = {}

--- The group whose gate is this scope, if any.
local function groupOf(scopeId)
  local record = scope.load(scopeId, 'path', 'groupId')
  return record and record.groupId
end

function inRun.groups.ids(scopeId)
  return { groupOf(scopeId) or nil }
end

--- A gate scope is kept as long as its group.
function inRun.groups.holds(scopeId)
  return groupOf(scopeId)
end

--- A group with its members, without outcomes; the number of members; and whether all of them could be read.
function inRun.groups.row(id)
  local record, isWhole = group.summary(group.withMembers({ group.load(id) })[1])
  return rows.taskGroupSummary(record), #record.tasks, isWhole
end
