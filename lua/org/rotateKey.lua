--- Creates a key with the rights and the expiry of another key, which then expires after `overlapHours`. detail: for
--- the audit trail.
--- @args keyId overlapHours digest tail detail
--- @reply apiKey:apiKey replaced:apiKey
--- @include lib/clock lib/id lib/refuse lib/unit org/_apiKey org/_org
local owner = org.load('plan', 'keys', 'usedKeys') or refuse('ORG_NOT_FOUND')
local replaced = apiKey.find(keyId) or refuse('KEY_NOT_FOUND', keyId)
if apiKey.hasEnded(replaced) then refuse('KEY_ENDED', keyId) end
local endsAt = math.min(now + overlapHours * 3600000, replaced.expiresAt or math.huge)
-- A key that expires at once makes room for the new one.
apiKey.needRoom(owner, apiKey.used(owner) - (endsAt <= now and 1 or 0))

local created = { id = digest, keyId = newId(tail), name = replaced.name, permissions = replaced.permissions,
  spaces = replaced.spaces, mailboxes = replaced.mailboxes, holder = replaced.holder or '', expiresAt =
  replaced.expiresAt, firstDigest = replaced.firstDigest or replaced.id }
apiKey.add(owner, created, 'key.rotated', 'cli', detail)
apiKey.endAt(replaced, endsAt)
unit.write()
return { apiKey = created, replaced = replaced }
