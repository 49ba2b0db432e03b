--- Counters of an organization's spaces, by their names and summed, and for how many milliseconds what each of `ages` (a
--- gauge that gives a moment) speaks of has waited in the space where it is oldest. Looks at the first `most` spaces;
--- replies how many it saw and how many there are. For the metrics: no caller, no key.
--- @args counters ages most
--- @reply seen spaces sums ages
--- @include "lib/gauges"
--- @include "lib/space"
--- @include "*/_gauges"
local names, sums, moments, longest, seen = {}, {}, {}, {}, 0
for name in string.gmatch(counters, '[^,]+') do names[#names + 1], sums[#sums + 1] = name, 0 end
for name in string.gmatch(ages, '[^,]+') do moments[#moments + 1], longest[#longest + 1] = name, 0 end
local spaces = redis.call('ZRANGE', keys.spaces(), 0, most - 1, 'WITHSCORES')
for n = 1, #spaces, 2 do
  spaceId, seen = spaces[n], seen + 1
  keyspace.enter(spaces[n + 1])
  for i, value in ipairs(redis.call('HMGET', keys.space(), unpack(names))) do
    local gauge = gauges[names[i]]
    sums[i] = sums[i] + (gauge and gauge() or tonumber(value) or 0)
  end
  for i, name in ipairs(moments) do longest[i] = math.max(longest[i], now - (gauges[name](1) or now)) end
end
return { seen = seen, spaces = redis.call('ZCARD', keys.spaces()), sums = sums, ages = longest }
