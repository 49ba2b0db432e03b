--- Revokes an API key: the next request with it is refused. Revoking it again changes nothing.
--- @args keyId
--- @reply apiKey:apiKey
--- @include lib/audit lib/clock lib/records lib/refuse lib/unit org/_apiKey
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local apiKeyDigest = redis.call('HGET', keys.apiKeys(), keyId)
if not apiKeyDigest then refuse('KEY_NOT_FOUND', keyId) end
local record = apiKey.load(apiKeyDigest)
if not record.revokedAt then
  records.set(record, 'revokedAt', now)
  records.add(keys.org(), 'usedKeys', -1)
  audit('key.revoked', 'cli', keyId, '{}')
  unit.write()
end
return { apiKey = record }
