--- A page of what an API key did, by the audit trail (lib/audit). The key must have no more rights than the caller's.
--- @request org
--- @args limit cursor keyId
--- @reply nextCursor entries:auditEntry[]
--- @include lib/audit lib/call lib/caller lib/refuse org/_apiKey
local record = apiKey.find(keyId)
if not record or apiKey.beyond(record, apiKey.load(caller.digest())) then refuse('KEY_NOT_FOUND') end
local entries, nextCursor = auditPage(limit, cursor, keyId)
return call.answer({ nextCursor = nextCursor, entries = entries })
