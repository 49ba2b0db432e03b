--- Creates an API key; only its digest arrives here. `detail` is the audit's. With `first` = '1' only as the
--- organization's very first key: of several processes that start on a new store, one gets it.
--- @args name permissions spaces apiKeyDigest tail first detail
--- @reply apiKey:apiKey
--- @include "lib/refuse"
--- @include "lib/id"
--- @include "lib/audit"
local plan, limit, used = unpack(redis.call('HMGET', keys.org(), 'plan', 'keys', 'usedKeys'))
if not plan then refuse('ORG_NOT_FOUND') end
if first == '1' and redis.call('EXISTS', keys.apiKeys()) == 1 then refuse('KEY_EXISTS') end
for spaceId in string.gmatch(spaces, '[^,]+') do
  if redis.call('EXISTS', keys.space()) == 0 then refuse('SPACE_NOT_FOUND', spaceId) end
end
if tonumber(limit) and (tonumber(used) or 0) >= tonumber(limit) then refuse('ENTITLEMENT_EXCEEDED', 'keys ' .. plan .. ' ' .. limit) end

local keyId = newId(tail)
redis.call('HSET', keys.apiKey(apiKeyDigest), 'keyId', keyId, 'name', name, 'permissions', permissions, 'spaces', spaces, 'createdAt', now)
redis.call('HSET', keys.apiKeys(), keyId, apiKeyDigest)
redis.call('HINCRBY', keys.org(), 'usedKeys', 1)
audit('key.created', 'cli', keyId, detail)
return { apiKey = { keyId = keyId, name = name, permissions = permissions, spaces = spaces, createdAt = now } }
