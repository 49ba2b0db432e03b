--- @include "lib/count"
--- Due moments of one organization, in one sorted set. `timer.nextDue` (kept in the organization's record) never
--- lies after the earliest of them, so a call sees with no extra command that something is due; `timer.wake` tells
--- the process that the index of organizations must learn of an earlier moment.
local timer = { nextDue = math.huge, wake = '' }

--- member: `<room>:<kind>:<spaceId>:<id>`; at: epoch milliseconds. Arming again moves it.
function timer.arm(member, at)
  redis.call('ZADD', keys.timers(), at, member)
  if at < timer.nextDue then
    timer.nextDue, timer.wake = at, at
    count.setOrg[#count.setOrg + 1] = 'nextDue'
    count.setOrg[#count.setOrg + 1] = at
  end
end

function timer.disarm(member)
  redis.call('ZREM', keys.timers(), member)
end
