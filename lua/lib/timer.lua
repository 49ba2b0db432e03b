--- @include "lib/count"
--- Due moments of one organization, in one sorted set. `timer.nextDue` (kept in the organization's record) never
--- lies after the earliest of them, so a call sees with no extra command that something is due; `timer.wake` tells
--- the process that the index of organizations must learn of an earlier moment.
local timer = {}

function timer.begin()
  timer.nextDue, timer.wake = math.huge, ''
end

--- member: `<room>:<kind>:<spaceNumber>:<id>`; at: epoch milliseconds. Arming again moves it.
function timer.arm(member, at)
  local text = string.format('%d', at)
  redis.call('ZADD', keys.timers(), text, member)
  if at < timer.nextDue then
    timer.nextDue, timer.wake = at, text
    count.setOrg.nextDue = text
  end
end

function timer.disarm(member)
  redis.call('ZREM', keys.timers(), member)
end
