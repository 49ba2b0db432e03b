--- The same page as event/list, for operators without an API key.
--- @full
--- @args spaceId requestId cursor epoch limit opened
--- @reply last epoch entries segments
--- @include lib/refuse lib/space event/_page space/_space
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
if not keyspace.find() then refuse('SPACE_NOT_FOUND', spaceId) end
local record = space.load(spaceId, 'trimmedThrough', 'packedThrough')
local page = pageOf(cursor, epoch, limit, opened, record.trimmedThrough, record.packedThrough)
return { last = page.last, epoch = page.epoch, entries = page.entries, segments = page.segments }
