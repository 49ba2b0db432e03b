--- Makes due background timers of one organization real, which no call waits for: all of them, or the one that is named.
--- Otherwise as timer/sweep.
--- @args maxChanges name
--- @reply now nextDue more changes
--- @include "timer/_sweep"

local function named(key)
  return name, sorted.score(key, name)
end

local at, done = sweep.run(keys.backgroundTimers(), tonumber(maxChanges), name == '' and sorted.first or named)
unit.write()
return sweep.reply(at, done)
