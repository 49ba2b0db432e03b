--- The records of messages (`ids`, with commas between) as they are stored, each as its id, fields and values; those that
--- have none are left out.
--- @full
--- @args ids
--- @reply records
--- @include "lib/space"
local found = {}
if not keyspace.find() then return { records = found } end
for id in string.gmatch(ids, '[^,]+') do
  local flat = redis.call('HGETALL', keys.message(id))
  if flat[1] then found[#found + 1] = { id, flat } end
end
return { records = found }
