--- @include "lib/undo"
--- @include "lib/records"
--- @include "lib/sorted"
--- @include "lib/sets"
--- @include "lib/streams"
--- The unit of work: rooms read, and say what is to change; nothing is written before the requests of a run have been
--- accepted or refused. Then each key gets one command of a kind, and each event its XADD. A refused request leaves
--- nothing behind but what was kept before (its count in the rates). Long work (sweeps, retention) writes item by item.
local unit = {}
--- Commands that only add to a list, by key; other commands, in their order; and the keys that they change.
local pushes, commands, commanded

function unit.begin()
  pushes, commands, commanded = {}, {}, {}
end

--- Any other command. What it would answer is not known: a key that it changes cannot be read any more.
function unit.command(name, key, ...)
  put(commands, #commands + 1, { name, key, ... })
  put(commanded, key, true)
end

--- Puts a text at the end of a list.
function unit.push(key, text)
  local list = pushes[key]
  if list then put(list, #list + 1, text) else put(pushes, key, { 'RPUSH', key, text }) end
end

--- Removes keys, whatever they hold.
function unit.delete(...)
  for _, key in ipairs({ ... }) do
    records.forget(key)
    sorted.forget(key)
    sets.forget(key)
    put(pushes, key, nil)
    put(commanded, key, nil)
  end
  put(commands, #commands + 1, { 'UNLINK', ... })
end

--- What the request at hand has changed so far stays, even if it is refused.
unit.keep = undo.forget

--- What it has changed since then does not.
unit.undo = undo.all

--- Whether a key has changed and is not written yet.
function unit.isChanged(key)
  return records.isChanged(key) or sorted.isChanged(key) or sets.isChanged(key) or pushes[key] or commanded[key]
    or streams.isChanged(key)
end

--- Writes everything.
function unit.write()
  undo.forget()
  for _, command in ipairs(commands) do redis.call(unpack(command)) end
  for _, command in pairs(pushes) do redis.call(unpack(command)) end
  records.write()
  sorted.write()
  sets.write()
  streams.write()
  pushes, commands, commanded = {}, {}, {}
end
