--- A page of the audit trail, newest first, before `cursor` ('' for the newest). nextCursor: the id of the page's last
--- entry, if there are more.
--- @args limit cursor
--- @reply nextCursor entries:auditEntry[]
--- @include lib/audit lib/refuse
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local found = redis.call('XREVRANGE', keys.audit(), cursor == '' and '+' or '(' .. cursor, '-', 'COUNT', limit + 1)
local entries, nextCursor = {}, false
for i = 1, math.min(#found, limit) do entries[i] = audited(found[i]) end
if #found > tonumber(limit) then nextCursor = found[#found - 1][1] end
return { nextCursor = nextCursor, entries = entries }
