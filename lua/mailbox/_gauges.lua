--- @include lib/gauges lib/space lib/streamId event/_segments mailbox/_figures mailbox/_oldest
--- When the space's oldest READY message became ready, or false. Exact if at most `maxMailboxes` mailboxes have an
--- earlier time in keys.oldestReady(), and if the same holds for the root scopes of each mailbox (oldest.readyOf).
function gauges.oldestReadyAt(maxMailboxes)
  maxMailboxes = maxMailboxes or 16
  return oldest.among(keys.oldestReady(), maxMailboxes, function(mailboxId) return oldest.readyOf(mailboxId, maxMailboxes) end)
end

--- The time of the first event after the position up to which messages have been packed, or false. No packed message is
--- newer than that.
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
