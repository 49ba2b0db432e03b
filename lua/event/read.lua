--- The same page as event/list, for operators: without an API key. `from`: a time in milliseconds; without a cursor, the
--- page begins at or shortly before the first event of that time.
--- @full
--- @args cursor epoch limit opened from
--- @reply last epoch entries segments
--- @include "event/_page"
--- @include "space/_space"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
if not keyspace.find() then refuse('SPACE_NOT_FOUND', spaceId) end
local record = space.load('trimmedThrough', 'packedThrough')
if cursor == '' and from ~= '' then
  local stream = redis.call('XREVRANGE', keys.events(), '(' .. from, '-', 'COUNT', 1)[1]
  local segment = redis.call('XREVRANGE', keys.eventSegments(), '(' .. from, '-', 'COUNT', 1)[1]
  cursor = (stream or segment or { '' })[1]
  epoch = maps.get(keys.org(), 'epoch')
end
local page = pageOf(cursor, epoch, limit, opened, record.trimmedThrough, record.packedThrough)
return { last = page.last, epoch = page.epoch, entries = page.entries, segments = page.segments }
