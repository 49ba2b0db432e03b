--- Paths (ids, root first) of scopes, in the order asked for; false for one that is not there. No request's own
--- script: it tells nothing to callers.
--- @args scopeIds
--- @reply paths
--- @include "lib/space"
local paths = {}
if not keyspace.find() then return { paths = paths } end
for scopeId in string.gmatch(scopeIds, '[^,]+') do
  paths[#paths + 1] = redis.call('HGET', keys.scope(scopeId), 'path')
end
return { paths = paths }
