--- @include lib/gauges lib/space lib/streamId event/_segments mailbox/_figures mailbox/_oldest
--- When the space's oldest READY message became ready, or false. It is exact if at most `maxMailboxes` mailboxes have an
--- older head than that, under the same condition for each mailbox.
function gauges.oldestReadyAt(maxMailboxes)
  maxMailboxes = maxMailboxes or 16
  return oldest.among(keys.oldestReady(), maxMailboxes, function(mailboxId) return oldest.readyOf(mailboxId, maxMailboxes) end)
end

--- The time of the first event after those up to which messages were packed, or false: no packed message is newer.
function gauges.messagesPackedAt()
  local position = redis.call('HGET', keys.space(spaceId), 'messagesPackedThrough') or '0-0'
  local packedEvents = segments.from('(' .. position, 1)[1]
  if packedEvents then return streamId.at(streamId.isBefore(position, packedEvents.first) and packedEvents.first or position) end
  local entry = redis.call('XRANGE', keys.events(), '(' .. position, '+', 'COUNT', 1)[1]
  return entry and streamId.at(entry[1])
end

--- The figures of the space since it was created.
-- ipairs does not exist while Redis loads a library.
for i = 1, #figures.names do
  gauges['total:' .. figures.names[i]] = function() return figures.ofSpace()[i] end
end
