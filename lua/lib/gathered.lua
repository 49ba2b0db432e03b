--- What the run at hand is going to write beside its records: commands by kind and key, each with all its arguments so
--- far. They are taken out of these tables when they are written, so that the tables need not grow again.
local gathered = {}
--- How many changes there have been: whether a request that is refused made any (lib/call).
local changes
--- What takes away is written first, so that it can come again.
local removals, additions = {}, {}
local listOf = { ZREM = removals, HDEL = removals, SREM = removals, ZADD = additions, HSET = additions, SADD = additions,
  RPUSH = additions }
local byKey = { ZREM = {}, HDEL = {}, SREM = {}, ZADD = {}, HSET = {}, SADD = {}, RPUSH = {} }
--- Whether everything that was gathered has been written.
local isWritten = true

--- Forgets what a run has left that failed, perhaps while it was writing.
function gathered.begin()
  changes = 0
  if isWritten then return end
  for _, list in pairs({ removals, additions }) do
    for i in pairs(list) do list[i] = nil end
  end
  for _, ofKind in pairs(byKey) do
    for key in pairs(ofKind) do ofKind[key] = nil end
  end
end

--- Adds one argument, or two, to the command of this kind.
local function gather(kind, key, first, second)
  changes = changes + 1
  local ofKind = byKey[kind]
  local args = ofKind[key]
  if args then
    local n = #args
    args[n + 1], args[n + 2] = first, second
  else
    local list = listOf[kind]
    args = { kind, key, first, second }
    ofKind[key], list[#list + 1], isWritten = args, args, false
  end
end

--- Where a member or field stands, last of all, in the command of this kind, and its arguments. It is the argument
--- `offset` of every `width`.
local function placeOf(kind, key, name, width, offset)
  local args = byKey[kind][key]
  for i = args and #args - width + offset or 0, 3, -width do
    if args[i] == name then return i, args end
  end
end

--- Takes back what a command of this kind was going to add of it.
local function ungather(kind, key, name, width, offset)
  local place, args = placeOf(kind, key, name, width, offset)
  while place do
    for _ = 1, width do table.remove(args, place - offset + 1) end
    place = placeOf(kind, key, name, width, offset)
  end
end

--- Forgets a key.
function gathered.forget(key)
  for _, ofKind in pairs(byKey) do
    local args = ofKind[key]
    for index in pairs(args or {}) do
      if index ~= 1 and index ~= 2 then args[index] = nil end
    end
  end
end

function gathered.isChanged(key)
  for _, ofKind in pairs(byKey) do
    if ofKind[key] then return true end
  end
end

local function writeAll(list)
  for i = 1, #list do
    local args = list[i]
    list[i], byKey[args[1]][args[2]] = nil, nil
    if args[3] then redis.call(unpack(args)) end
  end
end

function gathered.write()
  writeAll(removals)
  writeAll(additions)
  isWritten = true
end
