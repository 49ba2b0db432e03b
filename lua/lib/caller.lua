--- @shared apiKeyDigest permission
--- @export caller
--- @include lib/clock lib/day lib/records lib/refuse lib/invocation lib/space
--- The caller and what it may do, by its API key; or by the grant of a token, which Node has checked (src/oidc); or its link: a
--- secret address that lets its holder do one thing with one record. The requests of an invocation mostly carry the same key,
--- which is read once.
local caller = {}

--- What the caller may do (src/call/caller.ts, Grant). limits: what limits it beside its permissions, or false, as for most
--- callers: spaces and mailboxes, ids with commas between, and holder; false where there is no such limit. `isGuarded`: its
--- requests are checked by lib/guards. One table, as each member of an invocation costs all of them.
local function grant(permissions, limits)
  invocation.permissions, invocation.limits = permissions, limits
end

--- Identifies the caller of a token by its grant, which stands in place of the digest: `grant <end> <permissions> <spaces>
--- <actor>`. Refuses a grant that has ended, and an unknown organization.
local function identifyToken()
  local endsAt, permissions, spaces = string.match(apiKeyDigest, '^grant (%d+) (%S*) (%S*) ')
  if now >= tonumber(endsAt) or redis.call('EXISTS', keys.org()) == 0 then refuse('INVALID_API_KEY') end
  grant(permissions, spaces ~= '' and { spaces = spaces })
end

--- Reads all of a key, of which most is the same all day. Unknown, ended and revoked keys take the same work, and are refused.
--- The first use of a day is recorded.
local function readWhole(key)
  local stored = records.stored(key)
  for name, value in pairs(stored) do
    if value == '' then stored[name] = nil end
  end
  local isOver = stored.revokedAt or tonumber(stored.expiresAt or math.huge) <= now
  if not stored.permissions or isOver then refuse('INVALID_API_KEY') end
  local spaces, mailboxes, holder = stored.spaces, stored.mailboxes, stored.holder
  grant(stored.permissions, { spaces = spaces, mailboxes = mailboxes, holder = holder, isGuarded = mailboxes or holder })
  if not (mailboxes or holder or stored.expiresAt) then records.put(key, 'plain', spaces and today .. ' ' .. spaces or today) end
  if stored.usedDay ~= today then records.put(key, 'usedDay', today) end
end

--- Refuses an unknown, ended or revoked key, before anything about the request is revealed. A key that was found today to be
--- limited by no more than permissions and spaces is so for the rest of the day, unless it is revoked or given an end: most
--- keys are, and `plain` is then the day, with the spaces behind it.
function caller.identify()
  if invocation.apiKeyDigest == apiKeyDigest then return end
  local key = keys.apiKey(apiKeyDigest)
  local read = redis.call('HMGET', key, 'permissions', 'plain', 'revokedAt')
  local plain = not read[3] and read[2]
  if not read[1] and string.find(apiKeyDigest, 'grant ', 1, true) == 1 then
    identifyToken()
  elseif plain == today then
    grant(read[1], false)
  elseif plain and string.find(plain, today .. ' ', 1, true) == 1 then
    grant(read[1], { spaces = string.sub(plain, #today + 2) })
  else
    readWhole(key)
  end
  invocation.apiKeyDigest = apiKeyDigest
end

--- The same for the token of a link, of which the argument has the digest then; turns to the space of its record.
function caller.identifyLink()
  local number, id = string.match(redis.call('HGET', keys.links(), apiKeyDigest) or '', '^(%S+) (%S+)$')
  if not number then refuse('INVALID_API_KEY') end
  keyspace.turnTo(number)
  grant('', false)
  invocation.apiKeyDigest, invocation.linkedId = apiKeyDigest, id
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
  return invocation.limits and invocation.limits.spaces or ''
end

--- The digest of the key, by which its record is found.
function caller.digest()
  return apiKeyDigest
end

--- The id of the key, or the name of a token's subject, for the audit trail.
function caller.keyId()
  return redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId') or string.match(apiKeyDigest, '^grant %d+ %S* %S* (.*)$')
end

function caller.hasAllMailboxes()
  return not (invocation.limits and invocation.limits.mailboxes)
end

--- Whether the caller may use a mailbox.
function caller.hasMailbox(mailboxId)
  local mailboxes = invocation.limits and invocation.limits.mailboxes
  return not mailboxes or string.find(mailboxes, mailboxId, 1, true) ~= nil
end

function caller.needMailbox(mailboxId)
  if not caller.hasMailbox(mailboxId) then refuse('PERMISSION_DENIED', 'mailbox') end
end

--- Refuses a name under which the caller may not act.
function caller.needName(field, name)
  local holder = invocation.limits and invocation.limits.holder
  if holder and name ~= holder then refuse('PERMISSION_DENIED', field .. ' ' .. holder) end
end

--- The name under which the caller acts where it gives none: that of its key; nil if the key has none.
function caller.ownName()
  return invocation.limits and invocation.limits.holder or nil
end

--- The same; refuses where there is none.
function caller.needOwnName(field)
  return caller.ownName() or refuse('VALIDATION_FAILED', field .. ' is missing: it must be a string of 1 to 256 characters, '
    .. 'without control characters; only a key that is bound to a holder may leave it out')
end

--- Whether the key has one of the permissions, which have commas between. `mailboxes`: those of all mailboxes.
local function hasOneOf(names)
  if names == 'mailboxes' then return caller.hasAllMailboxes() end
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
  local spaces = invocation.limits and invocation.limits.spaces
  if spaces and not string.find(spaces, spaceId, 1, true) then refuse('PERMISSION_DENIED', 'space') end
end
