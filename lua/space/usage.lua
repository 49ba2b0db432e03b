--- Usage by UTC day. fromDay, toDay: days since 1970, '' if omitted, `malformed` if not a date. before: retainedBytes
--- before the range; days: the days with counters.
--- @request read
--- @space usageDay retainedBytes
--- @args fromDay toDay
--- @reply from to before days:usageDay[]
--- @include lib/call lib/clock lib/records lib/refuse lib/space
local usageDay, retainedBytes = keyspace.record.usageDay, keyspace.record.retainedBytes
if fromDay == 'malformed' then refuse('INVALID_DATE_RANGE', 'from') end
if toDay == 'malformed' then refuse('INVALID_DATE_RANGE', 'to') end
local last = tonumber(toDay) or math.floor(now / 86400000)
local first = tonumber(fromDay) or last - 29
if first > last then refuse('INVALID_DATE_RANGE', 'reversed') end
if last - first >= 400 then refuse('INVALID_DATE_RANGE', 'long') end

--- The counters of a day: in its own record or, for the current day, in the space's.
local function read(day, all)
  local record = { day = day, calls = {} }
  for name, value in pairs(all) do
    local operation = string.match(name, '^op:(.+)')
    if operation then
      record.calls[#record.calls + 1] = { operation, value }
    elseif name == 'uncounted' or name == 'retainedBytes' then
      record[name] = value
    end
  end
  return record
end

local days = {}
local before = redis.call('ZRANGE', keys.usageDays(), '(' .. first, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
local dates = redis.call('ZRANGE', keys.usageDays(), first, last, 'BYSCORE', 'WITHSCORES')
for i = 1, #dates, 2 do days[#days + 1] = read(tonumber(dates[i + 1]), records.stored(keys.usage(dates[i]))) end
before = before and redis.call('HGET', keys.usage(before), 'retainedBytes') or 0
usageDay = tonumber(usageDay)
if usageDay and usageDay < first then
  before = retainedBytes or 0
elseif usageDay and usageDay <= last then
  days[#days + 1] = read(usageDay, records.stored(keys.space(spaceId)))
end
return call.answer({ from = first, to = last, before = before, days = days })
