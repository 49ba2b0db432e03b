--- @include "lib/unit"
--- @include "lib/date"

--- Removes usage records of days before `oldest`. The last of them leaves its retainedBytes to the oldest day that is
--- kept, where that one has no record: quiet days have the figure of the day before. True when there may be more.
local function removeUsage(oldest, usageDay, most)
  local dates = redis.call('ZRANGE', keys.usageDays(), '-inf', '(' .. oldest, 'BYSCORE', 'LIMIT', 0, most)
  if not dates[1] then return false end
  local retainedBytes
  for _, date in ipairs(dates) do
    retainedBytes = redis.call('HGET', keys.usage(date), 'retainedBytes')
    unit.delete(keys.usage(date))
    sorted.remove(keys.usageDays(), date)
  end
  local heir = dateOf(oldest * 86400000)
  if usageDay > oldest and redis.call('EXISTS', keys.usage(heir)) == 0 then
    records.put(keys.usage(heir), 'retainedBytes', retainedBytes)
    sorted.add(keys.usageDays(), oldest, heir)
  end
  return #dates == most
end
