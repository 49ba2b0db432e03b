--- @shared spaceId
--- @args requestId
--- @export keyspace spaceNumber spaceRoot
--- The current space and the id of the current request ('' in a sweep). The key of a space's record contains its id.
--- All its other keys start with `spaceRoot`, which contains `spaceNumber`, its number in the organization. Both are
--- nil until a space has been found, so that building a key fails.
local keyspace = {}
local spaceNumber, spaceRoot

--- number: from the space's record; false if there is no such space. record: the fields read so far.
function keyspace.enter(number, record)
  spaceNumber, spaceRoot, keyspace.record = number, number and keys.org() .. ':' .. number, record
end

function keyspace.leave()
  spaceId, requestId, spaceNumber, spaceRoot, keyspace.record = '', '', nil, nil, nil
end

--- For scripts that take a spaceId. Returns false if that space does not exist.
function keyspace.find()
  keyspace.enter(redis.call('HGET', keys.space(spaceId), 'number'))
  return spaceNumber
end

--- For scripts that go from space to space.
function keyspace.become(id, number)
  spaceId = id
  keyspace.enter(number)
end

--- For scripts that have a space's number. Returns false if that space does not exist.
function keyspace.turnTo(number)
  spaceId = redis.call('ZRANGE', keys.spaces(), number, number, 'BYSCORE')[1] or ''
  keyspace.enter(spaceId ~= '' and number)
  return spaceNumber
end
