--- A group with its members.
--- @request read
--- @args groupId
--- @reply group:group
--- @include lib/call group/_group group/_view
return call.answer({ group = group.view(group.withMembers({ group.read(groupId) })[1]) })
