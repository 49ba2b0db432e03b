--- @include "lib/gathered"
--- @include "lib/records"
--- @include "lib/maps"
--- @include "lib/sorted"
--- @include "lib/sets"
--- @include "lib/streams"
--- The unit of work: rooms read, and say what is to change; nothing is written before the requests of a run have been
--- accepted or refused (lib/call). Then each key gets one command of a kind, and each event its XADD. Long work (sweeps,
--- retention) writes item by item.
local unit = {}
--- Other commands, in their order, and the keys that they change.
local commands, commanded

function unit.begin()
  commands, commanded = nil, nil
end

--- Any other command. What it would answer is not known: a key that it changes cannot be read any more.
function unit.command(name, key, ...)
  changes = changes + 1
  commands, commanded = commands or {}, commanded or {}
  commands[#commands + 1], commanded[key] = { name, key, ... }, true
end

--- Puts a text at the end of a list.
function unit.push(key, text)
  gather('RPUSH', key, text)
end

--- Removes keys, whatever they hold.
function unit.delete(...)
  for _, key in ipairs({ ... }) do
    records.forget(key)
    sorted.forget(key)
    gathered.forget(key)
    unit.command('UNLINK', key)
  end
end

--- Whether a key has changed and is not written yet.
function unit.isChanged(key)
  return records.isChanged(key) or gathered.isChanged(key) or streams.isChanged(key) or commanded and commanded[key]
end

--- Writes everything.
function unit.write()
  if commands then
    for _, command in ipairs(commands) do redis.call(unpack(command)) end
    commands, commanded = nil, nil
  end
  records.write()
  gathered.write()
  streams.write()
  -- What was read of sets is not what stands there now.
  sorted.begin()
end
