--- The records of messages (`ids`, with commas between) as they are stored, each as its id, fields and values, and 1 for a
--- member of a group that is not decided, which may still change it; those that have none are left out.
--- @full
--- @args ids
--- @reply records
--- @include "lib/unit"
--- @include "space/_space"
--- @include "mailbox/_message"
--- @include "group/_group"
local found = {}
if not keyspace.find() then return { records = found } end
for id in string.gmatch(ids, '[^,]+') do
  local flat = redis.call('HGETALL', keys.message(id))
  if flat[1] then
    local groupId = message.load(id, 'groupId').groupId
    found[#found + 1] = { id, flat, groupId and group.isUndecided(groupId) and 1 or 0 }
  end
end
return { records = found }
