--- A group with its members.
--- @args groupId
--- @reply group:group
--- @include "lib/call"
--- @include "group/_view"
call.read()
return call.answer({ group = group.view(group.withMembers({ group.read(groupId) })[1]) })
