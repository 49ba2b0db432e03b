--- A page of the audit trail (lib/audit). keyId: only what this key did; '' for all.
--- @args limit cursor keyId
--- @reply nextCursor entries:auditEntry[]
--- @include lib/audit lib/refuse
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local entries, nextCursor = auditPage(limit, cursor, keyId)
return { nextCursor = nextCursor, entries = entries }
