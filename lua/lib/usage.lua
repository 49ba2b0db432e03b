--- @include "lib/clock"
--- @include "lib/count"
--- @include "lib/date"
--- Usage (contract section 4): the current day's counters stand in the space's record (`op:<call>`, `uncounted`) and
--- move to a record of their own when the first call of a later day comes, so that a call costs no command for them.
local usage = {}
local today, usageDay, operationsDay

function usage.begin()
  today = string.format('%d', math.floor(now / 86400000))
  usage.operations = 0
end

local function startDay(previousDay)
  if previousDay then
    local previous, names = { 'retainedBytes', redis.call('HGET', keys.space(), 'retainedBytes') or '0' }, {}
    local all = redis.call('HGETALL', keys.space())
    for i = 1, #all, 2 do
      if all[i] == 'uncounted' or string.sub(all[i], 1, 3) == 'op:' then
        previous[#previous + 1], previous[#previous + 2] = all[i], all[i + 1]
        names[#names + 1] = all[i]
      end
    end
    local date = dateOf(previousDay * 86400000)
    redis.call('HSET', keys.usage(date), unpack(previous))
    redis.call('ZADD', keys.usageDays(), previousDay, date)
    if names[1] then redis.call('HDEL', keys.space(), unpack(names)) end
  end
  local set = count.setSpace
  set[#set + 1], set[#set + 2] = 'usageDay', today
end

--- The records' fields as they are: the space's usageDay, the organization's operationsDay, -Month, usedOperations.
function usage.read(spaceDay, orgDay, orgMonth, used)
  usageDay, operationsDay = spaceDay, orgDay
  usage.operations = (orgDay == today or orgMonth == string.sub(dateOf(now), 1, 7)) and tonumber(used) or 0
end

--- Makes today the space's day, as a call that counts does: whoever changes retainedBytes without being counted asks
--- for it first, so that former days keep their figure. spaceDay: the space's usageDay.
function usage.enterToday(spaceDay)
  if spaceDay ~= today then startDay(spaceDay) end
end

--- Counts in the space's day; the previous day is put away first, when this call is the first of another.
local function countToday(name)
  if usageDay ~= today then startDay(usageDay) end
  count.add(count.space, name, 1)
end

function usage.countUncounted()
  countToday('uncounted')
end

--- One operation, of the space's day and of the organization's month.
function usage.countOperation(callName)
  countToday('op:' .. callName)
  local set = count.setOrg
  local n = #set
  set[n + 1], set[n + 2] = 'usedOperations', string.format('%d', usage.operations + 1)
  if operationsDay ~= today then
    set[n + 3], set[n + 4], set[n + 5], set[n + 6] = 'operationsDay', today, 'operationsMonth', string.sub(dateOf(now), 1, 7)
  end
end
