--- Usage by UTC days (contract section 4). Days are numbers since 1970; '' where the request leaves one out, `malformed`
--- where it is no date. Replies with the range, the retainedBytes before it, and what is known of each day that has
--- counters: its number, and name to value as a flat list.
--- @args fromDay toDay
--- @include "lib/call"
local usageDay, retainedBytes = call.read('usageDay', 'retainedBytes')
if fromDay == 'malformed' then refuse('INVALID_DATE_RANGE', 'from') end
if toDay == 'malformed' then refuse('INVALID_DATE_RANGE', 'to') end
local last = tonumber(toDay) or math.floor(now / 86400000)
local first = tonumber(fromDay) or last - 29
if first > last then refuse('INVALID_DATE_RANGE', 'reversed') end
if last - first >= 400 then refuse('INVALID_DATE_RANGE', 'long') end

local days = {}
local before = redis.call('ZRANGE', keys.usageDays(), '(' .. first, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
local dates = redis.call('ZRANGE', keys.usageDays(), first, last, 'BYSCORE', 'WITHSCORES')
for i = 1, #dates, 2 do
  days[#days + 1] = { tonumber(dates[i + 1]), redis.call('HGETALL', keys.usage(dates[i])) }
end
before = before and redis.call('HGET', keys.usage(before), 'retainedBytes') or 0
usageDay = tonumber(usageDay)
if usageDay and usageDay < first then
  before = retainedBytes or 0
elseif usageDay and usageDay <= last then
  local today = { 'retainedBytes', retainedBytes or '0' }
  local all = redis.call('HGETALL', keys.space())
  for i = 1, #all, 2 do
    if all[i] == 'uncounted' or string.sub(all[i], 1, 3) == 'op:' then
      today[#today + 1], today[#today + 2] = all[i], all[i + 1]
    end
  end
  days[#days + 1] = { usageDay, today }
end
return call.answer(first, last, before, days)
