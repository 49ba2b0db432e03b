--- @include lib/hooks lib/streams webhook/_destination
--- What the room adds to the work of others: see lib/hooks.

--- Journal entries that destinations of the space have not read yet.
gauges['outbox:UNREAD'] = function()
  local ids, sum = redis.call('ZRANGE', keys.destinations(), 0, -1), 0
  if not ids[1] then return 0 end
  local _, added = streams.tail(keys.events())
  for _, id in ipairs(ids) do
    local record = destination.load(id, 'state', 'readCount', 'failingSince')
    if record.state == 'ACTIVE' then sum = sum + added - record.readCount end
  end
  return sum
end

--- When the longest failing destination began to fail, or false.
function gauges.oldestFailingAt()
  local oldest = false
  for _, id in ipairs(redis.call('ZRANGE', keys.destinations(), 0, -1)) do
    local record = destination.load(id, 'state', 'readCount', 'failingSince')
    local since = record.state == 'ACTIVE' and record.failingSince
    if since and (not oldest or since < oldest) then oldest = since end
  end
  return oldest
end
