--- @args spaceId requestId
--- The space at hand and the request that came for it ('' for the sweeper's work). The key of its record holds its id,
--- all its other keys begin with `spaceRoot`, which holds `spaceNumber`, its number in the organization. As long as no space
--- has been found there is neither, and making a key fails.
local keyspace = {}

--- number: of the space at hand, as its record has it; false where there is no such space.
function keyspace.enter(number)
  spaceNumber, spaceRoot = number, number and keys.org() .. ':' .. number
end

--- For a script that was told the id: whether there is such a space.
function keyspace.find()
  keyspace.enter(redis.call('HGET', keys.space(), 'number'))
  return spaceNumber
end

--- For a script that came across a number: whether there is such a space.
function keyspace.turnTo(number)
  spaceId = redis.call('ZRANGE', keys.spaces(), number, number, 'BYSCORE')[1] or ''
  keyspace.enter(spaceId ~= '' and number)
  return spaceNumber
end
