--- Creates an API key with no more rights than the caller's. holder '': the caller's; expiresInDays '': no end. detail:
--- for the audit trail.
--- @request org
--- @args name permissions spaces mailboxes holder expiresInDays digest tail detail
--- @reply apiKey:apiKey
--- @include lib/call lib/caller lib/clock lib/id lib/refuse org/_apiKey org/_org
local own = apiKey.load(caller.digest())
local given = { id = digest, keyId = newId(tail), name = name, permissions = permissions, spaces = spaces,
  mailboxes = mailboxes, holder = holder == '' and caller.ownName() or holder, expiresAt = expiresInDays ~= '' and now
    + expiresInDays * 86400000 }
local beyond = apiKey.beyond(given, own)
if beyond then refuse('PERMISSION_DENIED', 'beyond ' .. beyond) end
local owner = org.load('plan', 'keys', 'usedKeys')
given.spaces = apiKey.place(spaces, mailboxes)
apiKey.needRoom(owner, apiKey.used(owner))

apiKey.add(owner, given, 'key.created', own.keyId, detail)
return call.answer({ apiKey = given })
