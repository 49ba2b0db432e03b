--- @include lib/decimal lib/invocation lib/records lib/sorted lib/space
--- @export timer
--- The timers of one organization, in one sorted set by due time. The organization's record keeps `timer.nextDue`,
--- which is never later than the earliest of them, so a call knows without a further command whether a timer is due.
--- `timer.wake` tells the process to move the organization to an earlier time in the index of organizations.
local timer = {}

--- Starts an invocation. nextDue: text from the organization's record, or nil until that has been read.
function timer.start(nextDue)
  timer.nextDue, timer.wake = tonumber(nextDue) or math.huge, ''
end

--- For the next request of the invocation, which reports its own wake-up.
function timer.forgetWake()
  timer.wake = ''
end

local function memberOf(kind, id)
  return kind .. ':' .. spaceNumber .. ':' .. id
end

--- Arms a timer, or moves it. kind: `<room>:<kind>` (lib/hooks); at: epoch milliseconds.
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

--- Announces to the index of organizations a time that no call waits for. text: `at` as text.
function timer.announce(at, text)
  if at < timer.nextDue and at < (tonumber(timer.wake) or math.huge) then timer.wake = text end
end

--- Arms a timer that no call waits for. Workers run it within a second, in steps (timer/background), so code that
--- depends on its time must check that time itself.
function timer.armInBackground(kind, id, at)
  local text = decimal(at)
  sorted.add(keys.backgroundTimers(), text, memberOf(kind, id))
  timer.announce(at, text)
end

function timer.disarmInBackground(kind, id)
  sorted.remove(keys.backgroundTimers(), memberOf(kind, id))
end

--- For the handler of a background timer: has Node do what a script cannot do alone (src/engine/redis/due.ts, `does`).
function timer.ask(kind, ...)
  local tasks = invocation.tasks or {}
  tasks[#tasks + 1], invocation.tasks = { kind, spaceId, ... }, tasks
end

--- The name of a background timer, for `again`.
function timer.named(kind, id)
  return memberOf(kind, id)
end
