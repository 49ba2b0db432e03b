--- @include "lib/clock"
--- @include "lib/count"
--- @include "lib/date"
--- @include "lib/records"
--- @include "lib/maps"
--- @include "lib/sorted"
--- Usage (contract section 4): the current day's counters stand in the space's record (`op:<call>`, `uncounted`) and
--- move to a record of their own when the first call of a later day comes, so that a call costs no command for them.
--- That first call also begins the organization's month anew where it is another one.
local usage = {}
local monthOf, month
--- The month that this run has begun.
local begunMonth

--- today: in days since 1970, as text; space: the record of the space at hand.
function usage.begin()
  usage.today, begunMonth = string.format('%d', math.floor(now / 86400000)), nil
end

--- YYYY-MM; reckoned once a day.
function usage.month()
  if monthOf ~= usage.today then monthOf, month = usage.today, string.sub(dateOf(now), 1, 7) end
  return month
end

local function startDay(space)
  if space.usageDay then
    local date, all = dateOf(space.usageDay * 86400000), records.stored(space.key)
    for name, value in pairs(all) do
      if name == 'uncounted' or string.sub(name, 1, 3) == 'op:' then
        records.put(keys.usage(date), name, value)
        records.set(space, name, false)
      end
    end
    records.put(keys.usage(date), 'retainedBytes', all.retainedBytes or 0)
    sorted.add(keys.usageDays(), space.usageDay, date)
  end
  if begunMonth ~= usage.month() and maps.get(keys.org(), 'operationsMonth') ~= usage.month() then
    begunMonth = usage.month()
    records.put(keys.org(), 'operationsMonth', begunMonth)
    records.put(keys.org(), 'usedOperations', 0)
  end
  records.set(space, 'usageDay', usage.today)
end

--- Whether today comes after the space's day: a clock that went back over midnight goes on counting in the later one.
local function isNew(spaceDay)
  return spaceDay ~= usage.today and (not spaceDay or tonumber(usage.today) > tonumber(spaceDay))
end

--- Makes today the space's day, as a call that counts does: whoever changes retainedBytes without being counted asks
--- for it first, so that former days keep their figure. space: its record, with usageDay.
function usage.enterToday(space)
  if isNew(space.usageDay) then startDay(space) end
end

--- Counts in the space's day; the previous day is put away first, when this call is the first of another.
local function countToday(name)
  usage.enterToday(usage.space)
  count.space(name, 1)
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
  count.org('usedOperations', 1)
end
