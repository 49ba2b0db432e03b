--- @include lib/gathered lib/unit
--- @export sets
--- Sets as this invocation has changed them. At the end, one SREM and one SADD per set are sent. A changed set can only
--- be asked whether it has a member.
local sets = {}

function sets.add(key, member)
  gathered.add('SADD', key, member)
end

function sets.remove(key, member)
  gathered.takeBack('SADD', key, member, 1, 1)
  gathered.add('SREM', key, member)
end

function sets.has(key, member)
  if gathered.placeOf('SADD', key, member, 1, 1) then return true end
  -- The only such command of a set deletes it.
  if unit.isCommanded(key) or gathered.placeOf('SREM', key, member, 1, 1) then return false end
  return redis.call('SISMEMBER', key, member) == 1
end
