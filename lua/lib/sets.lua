--- @include "lib/gathered"
--- Sets as a run changes them: one SREM and one SADD for each are written at its end. Of one that has changed only whether
--- it has a member can be read.
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
