--- The stored records of messages (`ids`, separated by commas), each as id, fields and values, and 1 for a member of an
--- undecided group, which may still change it. Messages without a record are left out. looked: how many ids were read;
--- a step stops at about 64 KiB.
--- @full
--- @args spaceId requestId ids
--- @reply records looked
--- @include lib/space group/_group
local found, looked, bytes, bytesLimit = {}, 0, 0, 65536
if not keyspace.find() then return { records = found, looked = looked } end
for id in string.gmatch(ids, '[^,]+') do
  if bytes >= bytesLimit then break end
  looked = looked + 1
  local flat = redis.call('HGETALL', keys.message(id))
  if flat[1] then
    local groupId
    for i = 2, #flat, 2 do
      bytes = bytes + #flat[i]
      if flat[i - 1] == 'groupId' then groupId = flat[i] end
    end
    found[#found + 1] = { id, flat, groupId and group.isUndecided(groupId) and 1 or 0 }
  end
end
return { records = found, looked = looked }
