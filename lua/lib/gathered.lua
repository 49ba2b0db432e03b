--- @export gathered gatheredChanges
--- Commands that the invocation will send, except commands for records, by kind and key, each with its arguments so
--- far. Writing empties the tables but keeps their size, so that they need not grow again.
local gathered = {}
--- The number of changes gathered by this invocation (unit.changes).
local gatheredChanges
--- Removals are written first, so that a removed member can be added again.
local removals, additions = {}, {}
local listOf = { ZREM = removals, HDEL = removals, SREM = removals, ZADD = additions, HSET = additions,
  SADD = additions, RPUSH = additions }
--- The commands by kind, then key. Other files of the unit of work read this table. A list of arguments may also have
--- named members: an index of its arguments.
local byKey = { ZREM = {}, HDEL = {}, SREM = {}, ZADD = {}, HSET = {}, SADD = {}, RPUSH = {} }
--- Whether everything gathered has been written.
local isWritten = true

--- Drops the commands that a failed invocation left behind, even if it failed while writing.
function gathered.start()
  gatheredChanges = 0
  if isWritten then return end
  for _, list in pairs({ removals, additions }) do
    for i in pairs(list) do list[i] = nil end
  end
  for _, ofKind in pairs(byKey) do
    for key in pairs(ofKind) do ofKind[key] = nil end
  end
end

--- Appends one or two arguments to the key's command of this kind.
function gathered.add(kind, key, first, second)
  gatheredChanges = gatheredChanges + 1
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

--- The last position of a member or field in the arguments of a command, and those arguments. Arguments come in groups
--- of `width`, in which the member is number `offset`.
function gathered.placeOf(kind, key, name, width, offset)
  local args = byKey[kind][key]
  for i = args and #args - width + offset or 0, 3, -width do
    if args[i] == name then return i, args end
  end
end

--- Removes a member or field from a command that would add it.
function gathered.takeBack(kind, key, name, width, offset)
  local place, args = gathered.placeOf(kind, key, name, width, offset)
  while place do
    for _ = 1, width do table.remove(args, place - offset + 1) end
    place = gathered.placeOf(kind, key, name, width, offset)
  end
end

--- A command's arguments, by kind and key, from position 3 on; nil if there is none.
gathered.byKey = byKey

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
