--- @include lib/gauges lib/streamId
--- The time of the oldest event that is not packed, or false.
function gauges.oldestUnpackedAt()
  local head = redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', 1)[1]
  return head and streamId.at(head[1])
end
