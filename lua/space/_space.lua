--- @record space
--- @include "lib/space"
--- The space at hand, which is in the organization's list; its limits and counters are not read.
function space.read()
  local record = space.load('createdAt', 'name')
  record.spaceId = spaceId
  return record
end
