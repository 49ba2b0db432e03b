--- @include "lib/space"
--- @include "webhook/_destination"
--- Entries of the journal that destinations of the space have not looked at yet.
local function unread()
  local ids, sum = redis.call('ZRANGE', keys.destinations(), 0, -1), 0
  if not ids[1] then return 0 end
  local _, added = destination.tail()
  for _, id in ipairs(ids) do
    local record = redis.call('HMGET', keys.destination(id), 'state', 'readCount')
    if record[1] == 'ACTIVE' then sum = sum + added - record[2] end
  end
  return sum
end
