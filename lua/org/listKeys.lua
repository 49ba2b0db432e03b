--- A part of an organization's API keys, revoked ones too; `cursor` is '0' at first and comes back '0' with the last
--- part. A key may come twice, as with every SCAN.
--- @args cursor
--- @include "lib/refuse"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local nextCursor, entries = unpack(redis.call('HSCAN', keys.apiKeys(), cursor, 'COUNT', 200))
local list = {}
for i = 2, #entries, 2 do
  list[#list + 1] = redis.call('HMGET', keys.apiKey(entries[i]), 'keyId', 'name', 'permissions', 'spaces', 'createdAt', 'revokedAt')
end
return { nextCursor, list }
