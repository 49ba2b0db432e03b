--- @record apiKey
--- @include lib/audit lib/clock lib/id lib/maps lib/page lib/records lib/refuse lib/sorted lib/space lib/unit
--- @include org/_org
--- API keys, by digest: the key itself is not stored.

--- Without a named space, a key's mailboxes are looked for in this many of the newest spaces.
local maxLooked = 1000

--- Whether every word of one comma-separated list is in another.
local function isSubset(words, all)
  for word in string.gmatch(words, '[^,]+') do
    if not string.find(',' .. all .. ',', ',' .. word .. ',', 1, true) then return false end
  end
  return true
end

--- Whether one limit is at least as narrow as another; '' means no limit.
local function isNarrower(words, limit)
  return limit == '' or words ~= '' and isSubset(words, limit)
end

--- The first field in which a key exceeds the limits of another; nil if it grants no more.
function apiKey.beyond(record, limit)
  if not isSubset(record.permissions, limit.permissions) then return 'permissions' end
  if not isNarrower(record.spaces, limit.spaces) then return 'spaces' end
  if not isNarrower(record.mailboxes, limit.mailboxes) then return 'mailboxes' end
  local holder = limit.holder or ''
  if holder ~= '' and record.holder ~= holder then return 'holder' end
  if limit.expiresAt and not (record.expiresAt and record.expiresAt <= limit.expiresAt) then return 'expiresInDays' end
end

--- Whether keyIds lists all keys. Older versions had no list; the first key created since then fills it.
local function areListed()
  return redis.call('ZCARD', keys.keyIds()) == redis.call('HLEN', keys.apiKeys())
end

--- A page of keyIds, newest first (lib/page).
function apiKey.page(limit, cursor)
  if areListed() then return page(keys.keyIds(), limit, cursor) end
  local ids = {}
  for keyId in pairs(maps.all(keys.apiKeys())) do
    if cursor == '' or keyId < cursor then ids[#ids + 1] = keyId end
  end
  table.sort(ids, function(a, b) return a > b end)
  for i = #ids, limit + 2, -1 do ids[i] = nil end
  return cutPage(ids, limit)
end

function apiKey.find(keyId)
  local digest = redis.call('HGET', keys.apiKeys(), keyId)
  return digest and apiKey.load(digest)
end

function apiKey.hasEnded(record)
  return record.revokedAt or record.expiresAt and record.expiresAt <= now
end

--- The number of keys that count towards the plan: keys that are neither revoked nor expired. owner: the organization.
function apiKey.used(owner)
  return owner.usedKeys - redis.call('ZCOUNT', keys.endingKeys(), '-inf', nowText)
end

function apiKey.needRoom(owner, used)
  local most = tonumber(owner.keys)
  if most and used >= most then refuse('ENTITLEMENT_EXCEEDED', 'keys ' .. owner.plan .. ' ' .. owner.keys) end
end

--- Sets when a key expires.
function apiKey.endAt(record, at)
  records.set(record, 'expiresAt', at)
  records.set(record, 'plain', false)
  sorted.add(keys.endingKeys(), string.format('%d', at), record.id)
end

--- Whether a space has all of these mailboxes. Enters that space.
local function hasAll(mailboxes, id, number)
  keyspace.become(id, number)
  for mailboxId in string.gmatch(mailboxes, '[^,]+') do
    if redis.call('EXISTS', keys.mailbox(mailboxId)) == 0 then return false end
  end
  return true
end

--- The spaces of a new key. Refuses unless the organization has them and one of them has its mailboxes.
function apiKey.place(spaces, mailboxes)
  for spaceId in string.gmatch(spaces, '[^,]+') do
    if redis.call('EXISTS', keys.space(spaceId)) == 0 then refuse('SPACE_NOT_FOUND', spaceId) end
  end
  if mailboxes == '' then return spaces end
  local list = spaces ~= '' and { spaces, redis.call('ZSCORE', keys.spaces(), spaces) }
    or redis.call('ZRANGE', keys.spaces(), 0, maxLooked - 1, 'REV', 'WITHSCORES')
  for i = 1, #list, 2 do
    if hasAll(mailboxes, list[i], list[i + 1]) then return list[i] end
  end
  refuse('MAILBOX_NOT_FOUND', 'mailboxes')
end

--- Adds a key. record: with its limits, each '' if there is none. detail: for the audit trail.
function apiKey.add(owner, record, action, actor, detail)
  record.createdAt = now
  apiKey.insert(record)
  if record.expiresAt then sorted.add(keys.endingKeys(), string.format('%d', record.expiresAt), record.id) end
  if not areListed() then
    for keyId in pairs(maps.all(keys.apiKeys())) do sorted.add(keys.keyIds(), '0', keyId) end
  end
  maps.put(keys.apiKeys(), record.keyId, record.id)
  sorted.add(keys.keyIds(), '0', record.keyId)
  records.set(owner, 'usedKeys', owner.usedKeys + 1)
  audit(action, actor, record.keyId, detail)
end

--- Revokes a key, unless it is revoked already.
function apiKey.revoke(record, actor)
  if record.revokedAt then return end
  records.set(record, 'revokedAt', now)
  records.add(keys.org(), 'usedKeys', -1)
  sorted.remove(keys.endingKeys(), record.id)
  audit('key.revoked', actor, record.keyId, '{}')
end
