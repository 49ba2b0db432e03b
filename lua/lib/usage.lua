--- @include "lib/clock"
--- @include "lib/count"
--- @include "lib/date"
--- Usage (contract section 4): the current day's counters stand in the space's record (`op:<call>`, `uncounted`) and
--- move to a record of their own when the first call of a later day comes, so that a call costs no command for them.
--- That first call also begins the organization's month anew where it is another one.
local usage = {}
local monthOf, month

--- today: in days since 1970, as text; operations: of this month, known where the plan stops at a number of them; day:
--- the space's usageDay, as read.
function usage.begin()
  usage.today = string.format('%d', math.floor(now / 86400000))
  usage.operations, usage.day = 0, false
end

--- YYYY-MM; reckoned once a day.
function usage.month()
  if monthOf ~= usage.today then monthOf, month = usage.today, string.sub(dateOf(now), 1, 7) end
  return month
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
    for _, name in ipairs(names) do count.forget(name) end
  end
  if redis.call('HGET', keys.org(), 'operationsMonth') ~= usage.month() then
    redis.call('HSET', keys.org(), 'operationsMonth', usage.month(), 'usedOperations', '0')
    count.know('org', nil)
  end
  count.setSpace.usageDay, usage.day = usage.today, usage.today
end

--- Whether today comes after the space's day: a clock that went back over midnight goes on counting in the later one.
local function isNew(spaceDay)
  return spaceDay ~= usage.today and (not spaceDay or tonumber(usage.today) > tonumber(spaceDay))
end

--- Makes today the space's day, as a call that counts does: whoever changes retainedBytes without being counted asks
--- for it first, so that former days keep their figure. spaceDay: the space's usageDay.
function usage.enterToday(spaceDay)
  if isNew(spaceDay) then startDay(spaceDay) end
end

--- Counts in the space's day; the previous day is put away first, when this call is the first of another.
local function countToday(name)
  usage.enterToday(usage.day)
  count.add(count.space, name, 1)
end

function usage.countUncounted()
  countToday('uncounted')
end

--- The field that counts a call's operations of the day.
function usage.operationsOf(callName)
  return 'op:' .. callName
end

--- One operation, of the space's day and of the organization's month.
function usage.countOperation(callName)
  countToday(usage.operationsOf(callName))
  count.add(count.org, 'usedOperations', 1)
  usage.operations = usage.operations + 1
end
