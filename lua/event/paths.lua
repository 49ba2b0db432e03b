--- Paths (ids, root first) of scopes in the given order; false for an unknown scope. Called by the process itself, so
--- it checks no API key.
--- @args spaceId requestId scopeIds
--- @reply paths
--- @include lib/space
local paths = {}
if not keyspace.find() then return { paths = paths } end
for scopeId in string.gmatch(scopeIds, '[^,]+') do
  paths[#paths + 1] = redis.call('HGET', keys.scope(scopeId), 'path')
end
return { paths = paths }
