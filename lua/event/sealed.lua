--- The part of a space's journal that can be packed: the events up to `through` (milliseconds); `oldest`, the time of
--- the first ('' if the stream is empty); and the newest segment, if any.
--- @full
--- @args spaceId requestId sealAfterMs
--- @reply through oldest stream segment
--- @include lib/clock lib/space event/_segments
if not keyspace.find() then return nil end
local head = redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', 1)[1]
local segment = segments.newest()
return { through = now - tonumber(sealAfterMs), oldest = head and string.match(head[1], '^%d+') or '',
  stream = keys.events(), segment = segment and segments.place(segment) or {} }
