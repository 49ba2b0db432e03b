--- @include "lib/gathered"
--- Sets as the run changes them: one SREM and one SADD per set are sent at the end. A changed set can only be asked whether
--- it has a member.
local sets = {}

function sets.add(key, member)
  gather('SADD', key, member)
end

function sets.remove(key, member)
  ungather('SADD', key, member, 1, 1)
  gather('SREM', key, member)
end

function sets.has(key, member)
  if placeOf('SADD', key, member, 1, 1) then return true end
  return not placeOf('SREM', key, member, 1, 1) and redis.call('SISMEMBER', key, member) == 1
end
