--- A page of the audit trail, newest first, before `cursor` ('' for the newest).
--- @args limit cursor
--- @include "lib/refuse"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
return redis.call('XREVRANGE', keys.audit(), cursor == '' and '+' or '(' .. cursor, '-', 'COUNT', limit)
