--- @shared apiKeyDigest permission
--- @export caller acted
--- @include lib/clock lib/day lib/invocation lib/records lib/refuse lib/space
--- Identifies the caller and its permissions by an API key, by the grant of a token that Node has verified
--- (src/doors/oidc), or by a link: a secret address that lets its holder do one thing with one record. Most requests of
--- an invocation carry the same key, so it is read once.
local caller = {}
--- Whether the present request has named its actor, for its reply (lib/call).
local acted
--- The last digest whose actor was read, the actor, and the actor as the member of an event.
local actorDigest, actor, actorMember
--- The day, and how `plain` begins on it. An earlier version wrote the day alone, and did not know of names.
local markedDay, mark

--- Sets the caller's permissions and limits (src/engine/route/caller.ts, Grant). limits: false for most callers, else
--- `spaces` and `mailboxes` (ids separated by commas) and `holder`, each false if there is no such limit; `isGuarded`
--- if lib/guards checks its requests; `name`: see caller.name. It is one table because every member of `invocation`
--- costs all calls.
local function grant(permissions, limits)
  invocation.permissions, invocation.limits = permissions, limits
  invocation.answersIn = false
end

--- Identifies the caller by a token's grant, which takes the place of the digest: `grant <end> <permissions> <spaces>
--- <name> <actor>`. Refuses an expired grant, and an unknown organization.
local function identifyToken()
  local endsAt, permissions, spaces, name = string.match(apiKeyDigest, '^grant (%d+) (%S*) (%S*) (%S*) ')
  if now >= tonumber(endsAt) or redis.call('EXISTS', keys.org()) == 0 then refuse('INVALID_API_KEY') end
  grant(permissions, { spaces = spaces ~= '' and spaces, name = name })
end

--- Reads all fields of a key, and records its first use of the day. Unknown, expired and revoked keys are refused after
--- the same work.
local function readWhole(key)
  local stored = records.stored(key)
  for name, value in pairs(stored) do
    if value == '' then stored[name] = nil end
  end
  local isOver = stored.revokedAt or tonumber(stored.expiresAt or math.huge) <= now
  if not stored.permissions or isOver then refuse('INVALID_API_KEY') end
  local spaces, mailboxes, holder, name = stored.spaces, stored.mailboxes, stored.holder, stored.firstDigest
  grant(stored.permissions, { spaces = spaces, mailboxes = mailboxes, holder = holder, isGuarded = mailboxes or holder,
    name = name })
  if not (mailboxes or holder or stored.expiresAt) then
    records.put(key, 'plain', (spaces or name) and mark .. ' ' .. (spaces or '') .. ' ' .. (name or '') or mark)
  elseif stored.usedMinute ~= minuteText then
    records.put(key, 'usedMinute', minute)
  end
  if stored.usedDay ~= today then records.put(key, 'usedDay', today) end
end

--- Refuses an unknown, expired or revoked key before anything about the request is revealed. Most keys are limited by
--- permissions and spaces only. Such a key gets a field `plain` on its first use of the day: the day and, if it is
--- limited to spaces or was rotated, the spaces and its name. With it, later calls of that day need not read the other
--- limits. Revoking the key or setting its end still takes effect at once.
function caller.identify()
  if invocation.apiKeyDigest == apiKeyDigest then return end
  local key = keys.apiKey(apiKeyDigest)
  local read = redis.call('HMGET', key, 'permissions', 'plain', 'revokedAt')
  local plain = not read[3] and read[2]
  if markedDay ~= today then markedDay, mark = today, today .. '.' end
  if not read[1] and string.find(apiKeyDigest, 'grant ', 1, true) == 1 then
    identifyToken()
  elseif plain == mark then
    grant(read[1], false)
  elseif plain and string.find(plain, mark .. ' ', 1, true) == 1 then
    local spaces, name = string.match(plain, '^%S+ (%S*) (%S*)$')
    grant(read[1], { spaces = spaces ~= '' and spaces, name = name ~= '' and name })
  else
    readWhole(key)
  end
  invocation.apiKeyDigest = apiKeyDigest
end

--- Identifies the caller by the token of a link, whose digest is then the argument, and enters the space of the link's
--- record.
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

--- The caller's permissions, separated by commas.
function caller.permissions()
  return invocation.permissions
end

--- The spaces that the caller is limited to, separated by commas; '' for all.
function caller.spaces()
  return invocation.limits and invocation.limits.spaces or ''
end

--- The name of the caller, which is the same in all its requests and in no other caller's: the digest of its API key
--- or, if that replaced another by rotation, of the first one; for a token, a digest of its issuer and subject.
function caller.name()
  return invocation.limits and invocation.limits.name or apiKeyDigest
end

--- The digest of the API key, which names its record.
function caller.digest()
  return apiKeyDigest
end

--- A text as the content of a JSON string that has no quotation marks.
local function escaped(text)
  return (string.gsub(text, '[%c"\\]', function(character)
    return string.format('\\u%04x', string.byte(character))
  end))
end

local function readActor()
  local stored = redis.call('HMGET', keys.apiKey(apiKeyDigest), 'keyId', 'holder')
  actor = stored[1] or string.match(apiKeyDigest, '^grant %d+ %S* %S* %S* (.*)$') or 'link'
  if stored[2] and stored[2] ~= '' then actor = actor .. ' ' .. stored[2] end
  actorDigest, actorMember = apiKeyDigest, ' actor="' .. escaped(actor) .. '"'
end

--- Who makes the request, for the audit trail and the log: the id of the key, with the holder that it is bound to after
--- a blank; `oidc:` and the subject of a token; or `link`. nil for workers.
function caller.actor()
  if not invocation.apiKeyDigest then return nil end
  if actorDigest ~= apiKeyDigest then readActor() end
  acted = true
  return actor
end

--- Names the caller who asked for what a worker does now: a caller.actor of an earlier request.
function caller.actFor(name)
  actor, actorDigest, actorMember = name, apiKeyDigest, ' actor="' .. escaped(name) .. '"'
  invocation.apiKeyDigest = apiKeyDigest
end

--- The actor as a member of an event (src/engine/library/lua-events.ts); nil for workers.
function caller.actorMember()
  return caller.actor() and actorMember
end

--- The actor for the reply's head, if the request has named it: what an event says of it; nil otherwise.
function caller.said()
  acted = false
  return string.sub(actorMember, 9, -2)
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

--- Refuses a name that the caller may not act under.
function caller.needName(field, name)
  local holder = invocation.limits and invocation.limits.holder
  if holder and name ~= holder then refuse('PERMISSION_DENIED', field .. ' ' .. holder) end
end

--- The holder name that the key is bound to: the default where a request gives none; nil if there is none.
function caller.ownName()
  return invocation.limits and invocation.limits.holder or nil
end

--- Like ownName, but refuses if there is none.
function caller.needOwnName(field)
  return caller.ownName() or refuse('VALIDATION_FAILED',
    field .. ' is missing: it must be a string of 1 to 256 characters, '
    .. 'without control characters; only a key that is bound to a holder may leave it out')
end

--- Whether the caller has one of the permissions, which are separated by commas. The name `mailboxes` asks instead
--- whether the caller may use every mailbox.
local function hasOneOf(names)
  if names == 'mailboxes' then return caller.hasAllMailboxes() end
  for name in string.gmatch(names, '[^,]+') do
    if string.find(invocation.permissions, name, 1, true) then return true end
  end
end

function caller.authorize()
  -- Fast path: most calls need one permission, and most callers have it.
  if not string.find(invocation.permissions, permission, 1, true) then
    for names in string.gmatch(permission, '%S+') do
      if not hasOneOf(names) then refuse('PERMISSION_DENIED', names) end
    end
  end
  local spaces = invocation.limits and invocation.limits.spaces
  if spaces and not string.find(spaces, spaceId, 1, true) then refuse('PERMISSION_DENIED', 'space') end
end
