--- Revokes an API key: the next request with it is refused. Revoking it again changes nothing. Answers its record.
--- @args keyId
--- @include "lib/refuse"
--- @include "lib/audit"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local apiKeyDigest = redis.call('HGET', keys.apiKeys(), keyId)
if not apiKeyDigest then refuse('KEY_NOT_FOUND', keyId) end
local record = redis.call('HMGET', keys.apiKey(apiKeyDigest), 'keyId', 'name', 'permissions', 'spaces', 'createdAt', 'revokedAt')
if record[6] then return record end
redis.call('HSET', keys.apiKey(apiKeyDigest), 'revokedAt', now)
redis.call('HINCRBY', keys.org(), 'usedKeys', -1)
audit('key.revoked', 'cli', keyId, '{}')
record[6] = now
return record
