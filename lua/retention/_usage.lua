--- @export removeUsage
--- @include lib/date lib/records lib/sorted lib/unit

--- Removes usage records of at most `maxDays` days before `oldest`. If `oldest` has no record, it takes over the
--- retainedBytes of the last one removed, because a day without calls has the previous day's figure. Returns whether
--- there may be more.
local function removeUsage(oldest, usageDay, maxDays)
  local dates = redis.call('ZRANGE', keys.usageDays(), '-inf', '(' .. oldest, 'BYSCORE', 'LIMIT', 0, maxDays)
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
  return #dates == maxDays
end
