--- Removes records of the organization whose retention period has ended, oldest first and about `maxRecords` at most;
--- then entries of its audit trail.
--- @args spaceId requestId maxRecords
--- @reply more
--- @include lib/clock lib/hooks lib/sorted lib/space lib/unit retention/_stream retention/_window
maxRecords = tonumber(maxRecords)
local _, keep = window.ofPlan()
local removed = 0

--- Removes records that finished at `through` or before from a finished set.
local function removeFrom(list, through)
  while removed < maxRecords do
    local head = redis.call('ZRANGE', list, 0, 0, 'WITHSCORES')
    if not head[1] or tonumber(head[2]) > through then return end
    local kind, number, id = string.match(head[1], '^(%w+:%w+):([^:]+):(.*)$')
    sorted.remove(list, head[1])
    removed = removed + (keyspace.turnTo(number) and retained[kind](id, tonumber(head[2])) or 1)
    unit.write()
  end
end

-- Closed reservations first: a scope that loses its last one is added to the other set.
removeFrom(keys.closed(), now - window.reservations)
removeFrom(keys.finished(), now - keep)
local more = removed >= maxRecords
if not more then _, more = trimStream(keys.audit(), now - window.audit, maxRecords) end
unit.write()
return { more = more and 1 or 0 }
