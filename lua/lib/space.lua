--- @args spaceId requestId
--- The current space and the current request ('' for the sweeper). The key of the space's record contains its id; all its
--- other keys start with `spaceRoot`, which contains `spaceNumber`, its number in the organization. Until a space has been
--- found both are nil, and building a key fails.
local keyspace = {}

--- number: from the space's record; false if there is no such space.
function keyspace.enter(number)
  spaceNumber, spaceRoot = number, number and keys.org() .. ':' .. number
end

--- For scripts that get a spaceId: whether that space exists.
function keyspace.find()
  keyspace.enter(redis.call('HGET', keys.space(), 'number'))
  return spaceNumber
end

--- For scripts that read a space number: whether that space exists.
function keyspace.turnTo(number)
  spaceId = redis.call('ZRANGE', keys.spaces(), number, number, 'BYSCORE')[1] or ''
  keyspace.enter(spaceId ~= '' and number)
  return spaceNumber
end
