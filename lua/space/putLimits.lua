--- Sets some of the space's limits; '' leaves one as it is, `default <value>` puts it back: a default above the plan is
--- no refusal, it is cut to the plan when read.
--- @args requestsPerMinute maxBacklog maxPayloadBytes maxLeaseSeconds maxPendingWaiters maxArmedTimers
--- @include "lib/call"
--- @include "lib/audit"
local names = { 'requestsPerMinute', 'maxBacklog', 'maxPayloadBytes', 'maxLeaseSeconds', 'maxPendingWaiters', 'maxArmedTimers' }
local asked = { requestsPerMinute, maxBacklog, maxPayloadBytes, maxLeaseSeconds, maxPendingWaiters, maxArmedTimers }
local replay = call.open()
if replay then return replay end
local rpm, askedRpm = tonumber(redis.call('HGET', keys.org(), 'rpm')), tonumber(requestsPerMinute)
if rpm and askedRpm and askedRpm > rpm then refuse('ENTITLEMENT_EXCEEDED', 'requestsPerMinute ' .. rpm) end
if askedRpm and askedRpm > 100000 then
  refuse('VALIDATION_FAILED', 'requestsPerMinute must be a whole number from 1 to 100000')
end
if tonumber(maxPayloadBytes) and tonumber(maxPayloadBytes) > 65536 then refuse('ENTITLEMENT_EXCEEDED', 'maxPayloadBytes 65536') end

local before = redis.call('HMGET', keys.space(), unpack(names))
local changed, limits = {}, {}
for i, name in ipairs(names) do
  limits[i] = asked[i] ~= '' and string.match(asked[i], '%d+') or before[i]
  if limits[i] ~= before[i] then
    redis.call('HSET', keys.space(), name, limits[i])
    changed[#changed + 1] = '"' .. name .. '":' .. limits[i]
  end
end
if rpm then limits[1] = math.min(rpm, limits[1]) end
if #changed == 0 then return call.unchanged(unpack(limits)) end
local members = table.concat(changed, ',')
journal.append('limits.updated', spaceId, '', members)
audit('limits.updated', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), spaceId, '{' .. members .. '}')
return call.done(unpack(limits))
