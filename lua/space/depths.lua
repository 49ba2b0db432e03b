--- For metrics, without a caller: the named counters, summed over an organization's spaces, and for each of `ages`
--- (gauges that return a time) the greatest age in milliseconds in any space. Reads the first `maxSpaces` spaces. seen:
--- the number of spaces read; spaces: the number of all. fullest: of the spaces whose retained bytes are limited, the
--- highest share of the limit, per mille; absent if there is none. busiest: the highest share of their requests per
--- minute that the organization and its spaces have used in this minute, per mille.
--- @args spaceId requestId counters ages maxSpaces
--- @reply seen spaces sums ages fullest busiest
--- @include lib/clock lib/hooks lib/records lib/space
local names, sums, moments, longest, seen = {}, {}, {}, {}, 0
local fields = { 'retainedBytes', 'maxRetainedBytes', 'requestsPerMinute', 'requestsMinute', 'usedRequests' }
for name in string.gmatch(counters, '[^,]+') do
  names[#names + 1], sums[#sums + 1], fields[#fields + 1] = name, 0, name
end
for name in string.gmatch(ages, '[^,]+') do moments[#moments + 1], longest[#longest + 1] = name, 0 end
local org = { hashKey = keys.org() }
records.fill(org, { 'retainedBytes', 'rpm', 'requestsMinute', 'usedRequests' })
local ofPlan, rate = tonumber(org.retainedBytes), tonumber(org.rpm) or math.huge
local minute = math.floor(now / 60000)
--- The used share of a quota; 0 of one without end.
local function shareOf(record, quota)
  if tonumber(record.requestsMinute) ~= minute or quota == math.huge then return 0 end
  return math.floor(1000 * (tonumber(record.usedRequests) or 0) / quota)
end
local fullest, busiest = nil, shareOf(org, rate)
local spaces = redis.call('ZRANGE', keys.spaces(), 0, maxSpaces - 1, 'WITHSCORES')
for n = 1, #spaces, 2 do
  seen = seen + 1
  keyspace.become(spaces[n], spaces[n + 1])
  local found = { hashKey = keys.space(spaceId) }
  records.fill(found, fields)
  for i, name in ipairs(names) do
    local gauge = gauges[name]
    sums[i] = sums[i] + (gauge and gauge() or found[name] or 0)
  end
  local limit = math.min(found.maxRetainedBytes or math.huge, ofPlan or math.huge)
  if limit < math.huge then
    fullest = math.max(fullest or 0, math.floor(1000 * (found.retainedBytes or 0) / limit))
  end
  busiest = math.max(busiest, shareOf(found, math.min(tonumber(found.requestsPerMinute) or math.huge, rate)))
  for i, name in ipairs(moments) do longest[i] = math.max(longest[i], now - (gauges[name](1) or now)) end
end
return { seen = seen, spaces = redis.call('ZCARD', keys.spaces()), sums = sums, ages = longest,
  fullest = fullest, busiest = busiest }
