--- @shared apiKeyDigest permission
--- @export caller
--- @include lib/refuse lib/invocation lib/space
--- The caller's API key and what it allows, or its link: a secret address that lets its holder do one thing with one record. The requests of an invocation mostly carry the same key, which is read once.
local caller = {}

--- Refuses an unknown or revoked key, before anything about the request is revealed.
function caller.identify()
  if invocation.apiKeyDigest == apiKeyDigest then return end
  local key = redis.call('HMGET', keys.apiKey(apiKeyDigest), 'permissions', 'spaces', 'revokedAt')
  if not key[1] or key[3] then refuse('INVALID_API_KEY') end
  invocation.apiKeyDigest, invocation.permissions, invocation.spaces = apiKeyDigest, key[1], key[2]
end

--- The same for the token of a link, of which the argument has the digest then; turns to the space of its record.
function caller.identifyLink()
  local number, id = string.match(redis.call('HGET', keys.links(), apiKeyDigest) or '', '^(%S+) (%S+)$')
  if not number then refuse('INVALID_API_KEY') end
  keyspace.turnTo(number)
  invocation.apiKeyDigest, invocation.permissions, invocation.spaces, invocation.linkedId = apiKeyDigest, '', '', id
end

--- The id of the record that the caller's link is for.
function caller.linkedId()
  return invocation.linkedId
end

--- What the key may do, with commas between.
function caller.permissions()
  return invocation.permissions
end

--- The spaces that the key is limited to, between commas; '' for all.
function caller.spaces()
  return invocation.spaces
end

--- The id of the key, for the audit trail.
function caller.keyId()
  return redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId')
end

--- Whether the key has one of the permissions, which have commas between.
local function hasOneOf(names)
  for name in string.gmatch(names, '[^,]+') do
    if string.find(invocation.permissions, name, 1, true) then return true end
  end
end

function caller.authorize()
  -- Most calls need one permission, and mostly the key has it.
  if not string.find(invocation.permissions, permission, 1, true) then
    for names in string.gmatch(permission, '%S+') do
      if not hasOneOf(names) then refuse('PERMISSION_DENIED', names) end
    end
  end
  if invocation.spaces ~= '' and not string.find(invocation.spaces, spaceId, 1, true) then refuse('PERMISSION_DENIED', 'space') end
end
