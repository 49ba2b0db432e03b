--- @record group
--- @include "lib/refuse"
--- @include "lib/timer"
--- @include "mailbox/_finish"
--- A task group (contract section 4): its record, its counters and its one decision. The counters are kept with the
--- record, so that whether it is decided never depends on the number of members; `unjudged` are the SUCCEEDED members
--- without a verdict.
group.maxMembers, group.maxUndecided = 100, 1000

function group.read(groupId)
  return group.load(groupId) or refuse('GROUP_NOT_FOUND')
end

--- Adds to one of its counters.
function group.add(record, name, change)
  record[name] = redis.call('HINCRBY', keys.group(record.id), name, change)
end

--- Whether its deadline has come by `at`: then it is decided, swept or not.
function group.isOverdue(record, at)
  return record.deadline and record.deadline <= at
end

--- Refuses new members unless the group is OPEN.
function group.needOpen(record)
  local state = group.isOverdue(record, now) and 'DECIDED' or record.state
  if state ~= 'OPEN' then refuse('GROUP_NOT_OPEN', state) end
end

--- Takes the group (without a state: it is new) to `state`.
function group.turn(record, state)
  group.enter(record, state)
  redis.call('HSET', keys.group(record.id), 'state', state)
end

--- A decided group is finished once nobody works for it any more.
function group.retire(record, at)
  if record.state == 'DECIDED' and record.running == 0 then
    redis.call('ZADD', keys.finished(), string.format('%d', at), 'group:group:' .. spaceNumber .. ':' .. record.id)
  end
end
