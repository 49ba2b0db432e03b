--- For metrics, without a caller: the destinations of a space that have events to get, as reads show them.
--- @args spaceId requestId
--- @reply destinations:destination[]
--- @include lib/space webhook/_destination
local destinations = {}
for _, id in ipairs(keyspace.find() and redis.call('ZRANGE', keys.destinations(), 0, -1) or {}) do
  local record = destination.view(id)
  if record.oldestWaitingAt then destinations[#destinations + 1] = record end
end
return { destinations = destinations }
