--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/journal"
--- @include "mailbox/_finish"
--- A task group (contract section 4): its record, its counters and its one decision. The counters are kept with the
--- record, so that whether it is decided never depends on the number of members; `unjudged` are the SUCCEEDED members
--- without a verdict.
local group = { maxMembers = 100, maxUndecided = 1000 }
local fieldsOfGroup = { 'scopeId', 'parentScopeId', 'mailboxId', 'condition', 'threshold', 'state', 'outcome', 'deadline', 'createdAt',
  'sealedAt', 'decidedAt', 'members', 'pending', 'running', 'succeeded', 'failed', 'expired', 'cancelled', 'accepted', 'rejected',
  'unjudged', 'sealOutcome' }

--- The record by field names, counters as numbers, and its fields in the order of the answers as `values`; nil when
--- there is no such group.
function group.read(groupId)
  local values = redis.call('HMGET', keys.group(groupId), unpack(fieldsOfGroup))
  if not values[1] then return nil end
  local record = { id = groupId, values = values }
  for i, name in ipairs(fieldsOfGroup) do record[name] = values[i] end
  for i = 12, 21 do record[fieldsOfGroup[i]] = tonumber(values[i]) or 0 end
  return record
end

--- Adds to one of its counters.
function group.add(record, name, change)
  record[name] = redis.call('HINCRBY', keys.group(record.id), name, change)
end

--- Whether its deadline has come by `at`: then it is decided, swept or not.
function group.isOverdue(record, at)
  return record.deadline and tonumber(record.deadline) <= at
end

--- Refuses new members unless the group is OPEN.
function group.needOpen(record)
  local state = group.isOverdue(record, now) and 'DECIDED' or record.state
  if state ~= 'OPEN' then refuse('GROUP_NOT_OPEN', state) end
end

--- Takes the group (nil state: it is new) to `state`.
function group.enter(record, state)
  if record.state then count.add(count.space, 'groups:' .. record.state, -1) end
  count.add(count.space, 'groups:' .. state, 1)
  redis.call('HSET', keys.group(record.id), 'state', state)
  record.state = state
end

--- Appends `group.<what>`; `members` are further members of its payload.
function group.tell(record, what, members)
  journal.append('group.' .. what, record.id, record.scopeId, '"state":"' .. record.state .. '"' .. (members or ''))
end

--- A decided group is finished once nobody works for it any more.
function group.retire(record, at)
  if record.state == 'DECIDED' and record.running == 0 then
    redis.call('ZADD', keys.finished(), string.format('%d', at), 'group:group:' .. spaceId .. ':' .. record.id)
  end
end
