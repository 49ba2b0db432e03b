--- Where packing goes on with the messages of a space: behind the journal entry `position` ('': at its beginning). Messages
--- that finished at `through` or before can be packed; `last`: the id of the last one in a segment, '' for none.
--- @full
--- @args spaceId requestId sealAfterMs
--- @reply now through position epoch last
--- @include lib/clock lib/maps lib/space mailbox/_packed space/_space
if not keyspace.find() then return nil end
local record = space.load(spaceId, 'messagesPackedThrough')
local newest = packed.newest()
return { now = now, through = now - tonumber(sealAfterMs), position = record.messagesPackedThrough or '',
  epoch = maps.get(keys.org(), 'epoch'), last = newest and newest.last or '' }
