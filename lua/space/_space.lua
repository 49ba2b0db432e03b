--- @record space
--- An existing space, without its limits and counters.
function space.read(spaceId)
  local record = space.load(spaceId, 'createdAt', 'name')
  record.spaceId = spaceId
  return record
end
