--- @include lib/clock lib/count lib/date lib/day lib/invocation lib/maps lib/records lib/sorted lib/space
--- @export usage
--- Usage. The current day's counters are fields of the space's record (`op:<call>`, `uncounted`), so counting takes no
--- further command. The first call of a later day moves them to a record of their own and, in a new month, resets the
--- organization's month.
local usage = {}
local monthOf, month
--- The names of the counters of operations, by call.
local fields = {}

--- The current month as YYYY-MM, computed once a day.
function usage.month()
  if monthOf ~= today then monthOf, month = today, string.sub(dateOf(now), 1, 7) end
  return month
end

local function startDay(space)
  if space.usageDay then
    local date, all = dateOf(space.usageDay * 86400000), records.stored(space.hashKey)
    for name, value in pairs(all) do
      if name == 'uncounted' or string.sub(name, 1, 3) == 'op:' then
        records.put(keys.usage(date), name, value)
        records.set(space, name, false)
      end
    end
    records.put(keys.usage(date), 'retainedBytes', all.retainedBytes or 0)
    sorted.add(keys.usageDays(), space.usageDay, date)
  end
  if invocation.begunMonth ~= usage.month() and maps.get(keys.org(), 'operationsMonth') ~= usage.month() then
    invocation.begunMonth = usage.month()
    records.put(keys.org(), 'operationsMonth', invocation.begunMonth)
    records.put(keys.org(), 'usedOperations', 0)
  end
  records.set(space, 'usageDay', today)
end

--- Whether today is after the space's day. If the clock went back past midnight, counting continues in the later day.
local function isNew(spaceDay)
  return spaceDay ~= today and (not spaceDay or tonumber(today) > tonumber(spaceDay))
end

--- Makes today the space's day, as every counted call does. Call it before a change of retainedBytes outside a counted
--- call, so that earlier days keep their figure. space: the space's record, with usageDay.
function usage.enterToday(space)
  if isNew(space.usageDay) then startDay(space) end
end

--- Counts, in the space's current day, a call that is not an operation.
function usage.countUncounted()
  usage.enterToday(keyspace.record)
  count.space('uncounted', 1)
end

--- The field that counts a call's operations of the day.
function usage.operationsOf(callName)
  local field = fields[callName]
  if not field then
    field = 'op:' .. callName
    fields[callName] = field
  end
  return field
end

--- Counts one operation in the space's day and in the organization's month.
function usage.countOperation(callName)
  usage.enterToday(keyspace.record)
  count.space(usage.operationsOf(callName), 1)
  count.org('usedOperations', 1)
end
