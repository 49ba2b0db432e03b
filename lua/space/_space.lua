--- @record space
--- @include "lib/space"
--- The current space, which exists, without its limits and counters.
function space.read()
  local record = space.load('createdAt', 'name')
  record.spaceId = spaceId
  return record
end
