--- @include lib/count lib/gathered lib/records lib/sorted lib/streams
--- @export unit
--- The unit of work. Scripts read and record changes; nothing is written before every request of the invocation has
--- been accepted or refused (lib/call). Then each key gets at most one command of a kind, and each event one XADD. Long
--- work (sweeps, retention) writes item by item.
local unit = {}
--- All other commands in order, and the keys they change.
local commands, commanded
--- The number of those commands in this invocation.
local commandChanges

--- Starts an invocation and drops changes that a failed one may have left.
function unit.start()
  commands, commanded, commandChanges = nil, nil, 0
  gathered.start()
  records.start()
  sorted.start()
  streams.start()
  count.start()
end

--- The number of changes made by this invocation. Each file counts its own in a variable, as a call makes about twenty
--- changes and a member of `invocation` would cost several times as much.
function unit.changes()
  return commandChanges + gatheredChanges + recordChanges + countChanges + streamChanges
end

--- Records any other command. Its effect is not known here, so its key cannot be read until it has been written.
function unit.command(name, key, ...)
  commandChanges = commandChanges + 1
  commands, commanded = commands or {}, commanded or {}
  commands[#commands + 1], commanded[key] = { name, key, ... }, true
end

function unit.push(key, text)
  gathered.add('RPUSH', key, text)
end

--- Removes a text from a list: the first one, or with `isLast` the last one.
function unit.pull(key, text, isLast)
  local args = gathered.byKey.RPUSH[key]
  for i = 3, args and #args or 0 do
    if args[i] == text then return table.remove(args, i) end
  end
  unit.command('LREM', key, isLast and -1 or 1, text)
end

--- The first texts of a list, at most `limit`, with those appended by this invocation. Texts that it has removed may
--- still be among them, so use it only for lists of hints, whose entries are checked elsewhere.
function unit.hints(key, limit)
  local list, args = redis.call('LRANGE', key, 0, limit - 1), gathered.byKey.RPUSH[key]
  for i = 3, args and math.min(#args, limit - #list + 2) or 0 do list[#list + 1] = args[i] end
  return list
end

--- The length of a list of distinct texts, as this invocation has changed it.
function unit.lengthOf(key)
  local args = gathered.byKey.RPUSH[key]
  local length, pulled = redis.call('LLEN', key) + (args and #args - 2 or 0), {}
  for _, command in ipairs(commanded and commanded[key] and commands or {}) do
    if command[1] == 'LREM' and command[2] == key and not pulled[command[4]] then
      pulled[command[4]] = true
      length = length - 1
    end
  end
  return length
end

--- Deletes keys of any type.
function unit.delete(...)
  for _, key in ipairs({ ... }) do
    records.forget(key)
    sorted.forget(key)
    gathered.forget(key)
    unit.command('UNLINK', key)
  end
end

function unit.isChanged(key)
  return records.isChanged(key) or gathered.isChanged(key) or streams.isChanged(key) or unit.isCommanded(key)
end

--- Whether a command of `unit.command` or `unit.delete` changes a key.
function unit.isCommanded(key)
  return commanded and commanded[key]
end

function unit.write()
  if commands then
    for _, command in ipairs(commands) do redis.call(unpack(command)) end
    commands, commanded = nil, nil
  end
  count.collect()
  records.write()
  gathered.write()
  streams.write()
  sorted.start()
end
