--- A group as it stands, with its members.
--- @args groupId
--- @include "lib/call"
--- @include "group/_view"
call.read()
local record = group.read(groupId)
if not record then refuse('GROUP_NOT_FOUND') end
return call.answer((group.view(record)))
