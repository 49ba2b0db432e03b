--- Runs the due background timers of one organization, which no call waits for: all of them, or the named one, which
--- need not be armed. Otherwise like timer/sweep. tasks: what Node has to do, each with its kind, space and id.
--- @args spaceId requestId maxChanges name
--- @reply now nextDue more changes tasks?
--- @include lib/clock lib/invocation lib/sorted lib/space lib/timer lib/unit org/_org timer/_sweep

-- A handler may arm a timer that calls wait for.
local record = org.load('plan', 'nextDue')
timer.start(record and record.nextDue)

local isFired
local function named(key)
  local at = sorted.score(key, name) or not isFired and nowText
  isFired = true
  return name, at
end

local at, done = sweep.run(keys.backgroundTimers(), tonumber(maxChanges), name == '' and sorted.first or named)
unit.write()
local reply = sweep.reply(at, done)
reply.tasks = invocation.tasks
return reply
