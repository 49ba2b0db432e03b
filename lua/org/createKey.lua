--- Creates an API key, of which only the digest arrives here. first '1': only if the organization never had a key, so that
--- of several processes that start on a new store one creates it. detail: for the audit trail.
--- @args name permissions spaces apiKeyDigest tail first detail
--- @reply apiKey:apiKey
--- @include lib/audit lib/clock lib/id lib/maps lib/records lib/refuse lib/unit org/_apiKey org/_org
local record = org.load('plan', 'keys', 'usedKeys') or refuse('ORG_NOT_FOUND')
local maxKeys = tonumber(record.keys)
if first == '1' and redis.call('EXISTS', keys.apiKeys()) == 1 then refuse('KEY_EXISTS') end
for spaceId in string.gmatch(spaces, '[^,]+') do
  if redis.call('EXISTS', keys.space(spaceId)) == 0 then refuse('SPACE_NOT_FOUND', spaceId) end
end
if maxKeys and record.usedKeys >= maxKeys then refuse('ENTITLEMENT_EXCEEDED', 'keys ' .. record.plan .. ' ' .. record.keys) end

local keyId = newId(tail)
local created = { id = apiKeyDigest, keyId = keyId, name = name, permissions = permissions, spaces = spaces, createdAt = now }
apiKey.insert(created)
maps.put(keys.apiKeys(), keyId, apiKeyDigest)
records.set(record, 'usedKeys', record.usedKeys + 1)
audit('key.created', 'cli', keyId, detail)
unit.write()
return { apiKey = created }
