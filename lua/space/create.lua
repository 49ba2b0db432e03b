--- Creates a space with the given limits, `maxBacklog 1000 …`. first '1': returns the oldest space instead if there is
--- one, so that processes that start together create only one. detail: for the audit trail.
--- @args spaceId requestId name limitValues tail first detail
--- @reply space:space
--- @include lib/audit lib/clock lib/id lib/records lib/refuse lib/sorted lib/space lib/unit org/_org space/_space
local owner = org.load('plan', 'spaces', 'usedSpaces', 'lastSpace') or refuse('ORG_NOT_FOUND')
local maxSpaces = tonumber(owner.spaces)
local known = first == '1' and redis.call('ZRANGE', keys.spaces(), 0, 0)[1]
if known then return { space = space.read(known) } end
if maxSpaces and owner.usedSpaces >= maxSpaces then
  refuse('ENTITLEMENT_EXCEEDED', 'spaces ' .. owner.plan .. ' ' .. owner.spaces)
end

local id = newId(tail)
-- The fields that every request reads come first, as Redis searches a small hash from its start.
local number = owner.lastSpace + 1
local record = { 'number', number, 'requestsPerMinute', '', 'requestsMinute', 0, 'usedRequests', 0, 'messages:READY', 0,
  'messages:CLAIMED', 0, 'nextLease', '', 'timers:ARMED', 0, 'withheld', 0, 'messages:DELAYED', 0 }
for limit, value in string.gmatch(limitValues, '(%w+) (%w+)') do
  if value ~= 'none' then record[#record + 1], record[#record + 2] = limit, value end
end
unit.command('HSET', keys.space(id), unpack(record))
unit.command('HSET', keys.space(id), 'name', name, 'createdAt', nowText)
sorted.add(keys.spaces(), string.format('%d', number), id)
records.set(owner, 'lastSpace', number)
records.set(owner, 'usedSpaces', owner.usedSpaces + 1)
audit('space.created', 'cli', id, detail)
unit.write()
return { space = space.read(id) }
