--- Where the packing of a space's messages continues: after the journal entry `position` ('' for the beginning).
--- Messages that finished at `through` or before can be packed. last: the id of the last packed message, '' for none.
--- @full
--- @args spaceId requestId sealAfterMs
--- @reply now through position epoch last
--- @include lib/clock lib/maps lib/space mailbox/_packed space/_space
if not keyspace.find() then return nil end
local record = space.load(spaceId, 'messagesPackedThrough')
local newest = packed.newest()
return { now = now, through = now - tonumber(sealAfterMs), position = record.messagesPackedThrough or '',
  epoch = maps.get(keys.org(), 'epoch'), last = newest and newest.last or '' }
