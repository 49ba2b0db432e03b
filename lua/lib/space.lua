--- @shared spaceId
--- @args requestId
--- @export keyspace spaceNumber spaceRoot
--- The current space, and the id of the current request ('' for the sweeper). The key of the space's record contains its id;
--- all its other keys start with `spaceRoot`, which contains `spaceNumber`, its number in the organization. Until a space
--- has been found both are nil, and building a key fails.
local keyspace = {}
local spaceNumber, spaceRoot

--- number: from the space's record; false if there is no such space. record: as far as it has been read.
function keyspace.enter(number, record)
  spaceNumber, spaceRoot, keyspace.record = number, number and keys.org() .. ':' .. number, record
end

--- At the start of an invocation.
function keyspace.leave()
  spaceId, requestId, spaceNumber, spaceRoot, keyspace.record = '', '', nil, nil, nil
end

--- For scripts that get a spaceId: whether that space exists.
function keyspace.find()
  keyspace.enter(redis.call('HGET', keys.space(spaceId), 'number'))
  return spaceNumber
end

--- For scripts that go from space to space.
function keyspace.become(id, number)
  spaceId = id
  keyspace.enter(number)
end

--- For scripts that read a space number: whether that space exists.
function keyspace.turnTo(number)
  spaceId = redis.call('ZRANGE', keys.spaces(), number, number, 'BYSCORE')[1] or ''
  keyspace.enter(spaceId ~= '' and number)
  return spaceNumber
end
