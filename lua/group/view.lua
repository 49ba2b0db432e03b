--- A group with its members; isAlone '1': without them.
--- @request read
--- @args groupId isAlone
--- @reply group:group
--- @include lib/call group/_group group/_view
local record = group.read(groupId)
if isAlone == '1' then record.tasks = {} else group.withMembers({ record }) end
return call.answer({ group = group.view(record) })
