--- A page of the journal after `cursor` (event/_page). last: the next cursor; epoch: the journal's generation.
--- @request read
--- @space trimmedThrough packedThrough
--- @args cursor epoch limit opened
--- @reply last epoch entries segments
--- @include lib/call lib/space event/_page
local trimmedThrough, packedThrough = keyspace.record.trimmedThrough, keyspace.record.packedThrough
local page = pageOf(cursor, epoch, limit, opened, trimmedThrough, packedThrough)
return call.answer({ last = page.last, epoch = page.epoch, entries = page.entries, segments = page.segments })
