--- The first segment whose last event is at `from` (as XRANGE takes it) or later; nothing if there is none.
--- @full
--- @args spaceId requestId from
--- @reply segment
--- @include lib/space event/_segments
local found = keyspace.find() and segments.from(from, 1)[1]
if not found then return nil end
return { segment = segments.place(found) }
