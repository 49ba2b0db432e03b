--- Removes records of the organization whose time is over, at most about `most`, the longest finished first; then
--- entries of its audit trail.
--- @args most
--- @reply more
--- @include "lib/unit"
--- @include "lib/retained"
--- @include "retention/_window"
--- @include "retention/_stream"
--- @include "*/_retain"
most = tonumber(most)
local _, keep = window.ofPlan()
local removed = 0

--- From a set of finished records, those that finished at `through` or before.
local function removeFrom(list, through)
  while removed < most do
    local head = redis.call('ZRANGE', list, 0, 0, 'WITHSCORES')
    if not head[1] or tonumber(head[2]) > through then return end
    local kind, number, id = string.match(head[1], '^(%w+:%w+):([^:]+):(.*)$')
    sorted.remove(list, head[1])
    removed = removed + (keyspace.turnTo(number) and retained[kind](id, tonumber(head[2])) or 1)
    unit.write()
  end
end

-- Scopes that their last reservation leaves stand in the other list.
removeFrom(keys.closed(), now - window.reservations)
removeFrom(keys.finished(), now - keep)
local more = removed >= most
if not more then _, more = trimStream(keys.audit(), now - window.audit, most) end
unit.write()
return { more = more and 1 or 0 }
