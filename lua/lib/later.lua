--- Writes that can wait for the end of a run of several requests: what they do to one hash or sorted set is one command
--- then. count.write writes them. Whoever reads such a key in the same script settles it first. In a script that
--- serves one request nothing waits.
local later = {}
--- By key: the command under way, and the counters to be changed beside it.
local commands, changes

function later.begin()
  later.gathers, commands, changes = false, {}, {}
end

--- Writes what has been gathered for one key.
function later.settle(key)
  local args, ofKey = commands[key], changes[key]
  commands[key], changes[key] = nil, nil
  if args then redis.call(unpack(args)) end
  if not ofKey then return end
  for field, change in pairs(ofKey) do redis.call('HINCRBY', key, field, string.format('%d', change)) end
end

--- The command under way for the key, if it is this one.
local function underWay(name, key)
  local args = commands[key]
  if not args or args[1] == name then return args end
  later.settle(key)
end

--- Sets a field of a hash. The value is text.
function later.set(key, field, value)
  if not later.gathers then
    redis.call('HSET', key, field, value)
    return
  end
  local args = underWay('HSET', key)
  if not args then
    -- Beside the arguments: where the value of each field stands.
    commands[key] = { 'HSET', key, field, value, [field] = 4 }
    return
  end
  local at = args[field]
  if not at then
    at = #args + 2
    args[at - 1], args[field] = field, at
  end
  args[at] = value
end

--- The value of a field of a hash, also where it is not written yet; false where there is none.
function later.get(key, field)
  local args = commands[key]
  local at = args and args[field]
  return at and args[at] or redis.call('HGET', key, field)
end

--- Adds to a counter that nobody has read: a field of a hash.
function later.add(key, field, change)
  if not later.gathers then
    redis.call('HINCRBY', key, field, string.format('%d', change))
    return
  end
  local ofKey = changes[key]
  if ofKey then ofKey[field] = (ofKey[field] or 0) + change else changes[key] = { [field] = change } end
end

--- Puts a member into a sorted set, or moves it there. score: text.
function later.enter(key, score, member)
  if not later.gathers then
    redis.call('ZADD', key, score, member)
    return
  end
  local args = underWay('ZADD', key)
  if args then
    local n = #args
    args[n + 1], args[n + 2] = score, member
  else
    commands[key] = { 'ZADD', key, score, member }
  end
end

--- Takes a member out of a sorted set.
function later.leave(key, member)
  if not later.gathers then
    redis.call('ZREM', key, member)
    return
  end
  local args = underWay('ZREM', key)
  if args then args[#args + 1] = member else commands[key] = { 'ZREM', key, member } end
end

--- Writes everything.
function later.write()
  if not later.gathers then return end
  for _, args in pairs(commands) do redis.call(unpack(args)) end
  commands = {}
  for key in pairs(changes) do later.settle(key) end
end
