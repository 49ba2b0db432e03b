--- @include lib/hooks lib/streamId
--- What the room adds to the work of others: see lib/hooks.

--- The time of the oldest event that is not packed, or false.
function gauges.oldestUnpackedAt()
  local head = redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', 1)[1]
  return head and streamId.at(head[1])
end
