--- Packs finished messages: a segment with ids from `first` to `last` replaces the records in `rows`, a JSON list with
--- id, mailboxId, state, finishedAt and groupId, if any, of each. from, through: the journal entry up to which messages
--- have been packed, before and after this call; without rows only that entry changes. Changes nothing if another call
--- has packed meanwhile, or if one of the messages has changed.
--- @full
--- @args spaceId requestId from through first last count digest finishedThrough
--- @long rows segment
--- @reply isPacked
--- @include lib/records lib/sorted lib/space lib/unit group/_group mailbox/_mailbox mailbox/_message mailbox/_packed
--- @include mailbox/_segments space/_space
local none = { isPacked = 0 }
if not keyspace.find() then return none end
local record = space.load(spaceId, 'messagesPackedThrough', 'messageSegments')
if (record.messagesPackedThrough or '') ~= from then return none end
local list = cjson.decode(rows)
for _, row in ipairs(list) do
  local found = message.stored(row.id, 'mailboxId', 'state', 'finishedAt', 'groupId')
  if not found or found.mailboxId ~= row.mailboxId or found.state ~= row.state or found.finishedAt ~= row.finishedAt
    or (found.groupId or nil) ~= row.groupId or found.groupId and group.isUndecided(found.groupId) then
    return none
  end
end
if list[1] then
  local newest = packed.newest()
  if newest and newest.last >= first then return none end
  packing.addSegment(record, { last = last, first = first, digest = digest, count = count, kind = 'MESSAGES' }, segment,
    finishedThrough)
  packing.addRows(list)
  for _, row in ipairs(list) do
    local mailboxId, messageId = row.mailboxId, row.id
    sorted.remove(keys.messages(mailboxId), messageId)
    mailbox.letGo(mailboxId, 1)
    unit.delete(keys.message(messageId))
  end
end
records.set(record, 'messagesPackedThrough', through)
unit.write()
return { isPacked = 1 }
