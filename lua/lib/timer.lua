--- @include lib/decimal lib/records lib/sorted lib/space
--- @export timer
--- The timers of one organization, in one sorted set by due time. `timer.nextDue`, kept in the organization's record, is
--- never later than the earliest one, so a call learns without a further command whether something is due. `timer.wake`
--- tells the process to move the organization to an earlier time in the index of organizations.
local timer = {}

--- Before the organization's record has been read; nextDue: as that has it, a text, or nil.
function timer.start(nextDue)
  timer.nextDue, timer.wake = tonumber(nextDue) or math.huge, ''
end

--- The next request of the invocation: each tells the process by itself.
function timer.forgetWake()
  timer.wake = ''
end

local function memberOf(kind, id)
  return kind .. ':' .. spaceNumber .. ':' .. id
end

--- kind: `<room>:<kind>` (lib/due); at: epoch milliseconds. Arming a timer again moves it.
function timer.arm(kind, id, at)
  local text = decimal(at)
  sorted.add(keys.timers(), text, memberOf(kind, id))
  if at < timer.nextDue then
    timer.nextDue, timer.wake = at, text
    records.put(keys.org(), 'nextDue', text)
  end
end

function timer.disarm(kind, id)
  sorted.remove(keys.timers(), memberOf(kind, id))
end

--- Has the index of organizations know of a moment that no call waits for. text: the moment as text.
function timer.announce(at, text)
  if at < timer.nextDue and at < (tonumber(timer.wake) or math.huge) then timer.wake = text end
end

--- Arms a timer that no call waits for: workers get to it within a second, and in steps (timer/sweep). What depends on its
--- moment looks at that moment by itself.
function timer.armInBackground(kind, id, at)
  local text = decimal(at)
  sorted.add(keys.backgroundTimers(), text, memberOf(kind, id))
  timer.announce(at, text)
end

--- The name of a background timer for sendBack.
function timer.named(kind, id)
  return memberOf(kind, id)
end
