--- Revokes an API key: the next request with it is refused. Revoking it again changes nothing.
--- @args keyId
--- @reply apiKey:apiKey
--- @include lib/refuse lib/unit org/_apiKey
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local record = apiKey.find(keyId) or refuse('KEY_NOT_FOUND', keyId)
apiKey.revoke(record, 'cli')
unit.write()
return { apiKey = record }
