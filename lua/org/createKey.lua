--- Creates an API key; only its digest arrives here. mailboxes, holder: '' for no such limit; expiresInDays: '' for no
--- end. first '1': only if the organization never had a key, so that of several processes starting on a new store only
--- one creates it. detail: for the audit trail.
--- @args name permissions spaces mailboxes holder expiresInDays digest tail first detail
--- @reply apiKey:apiKey
--- @include lib/clock lib/id lib/refuse lib/unit org/_apiKey org/_org
local owner = org.load('plan', 'keys', 'usedKeys') or refuse('ORG_NOT_FOUND')
if first == '1' and redis.call('EXISTS', keys.apiKeys()) == 1 then refuse('KEY_EXISTS') end
spaces = apiKey.place(spaces, mailboxes)
apiKey.needRoom(owner, apiKey.used(owner))

local created = { id = digest, keyId = newId(tail), name = name, permissions = permissions, spaces = spaces,
  mailboxes = mailboxes, holder = holder, expiresAt = expiresInDays ~= '' and now + expiresInDays * 86400000 }
apiKey.add(owner, created, 'key.created', 'cli', detail)
unit.write()
return { apiKey = created }
