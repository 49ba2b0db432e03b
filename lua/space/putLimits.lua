--- Sets some of the space's limits. defaults: of all limits there are; requested: those to set, where `default` puts one
--- back: a default above the plan is no refusal, it is cut to the plan when read; granted: the most of each that a plan
--- may grant.
--- @args defaults granted requested
--- @reply limits
--- @include "lib/call"
--- @include "lib/audit"
--- @include "space/_limits"
local replay = call.open()
if replay then return replay end
local asked, most = limits.read(requested), limits.read(granted)
local rpm, askedRpm = tonumber(redis.call('HGET', keys.org(), 'rpm')), tonumber(asked.requestsPerMinute)
if rpm and askedRpm and askedRpm > rpm then refuse('ENTITLEMENT_EXCEEDED', 'requestsPerMinute ' .. rpm) end
if askedRpm and askedRpm > tonumber(most.requestsPerMinute) then
  refuse('VALIDATION_FAILED', 'requestsPerMinute must be a whole number from 1 to ' .. most.requestsPerMinute)
end
for name, largest in pairs(most) do
  if (tonumber(asked[name]) or 0) > tonumber(largest) then refuse('ENTITLEMENT_EXCEEDED', name .. ' ' .. largest) end
end

local values, names = limits.read(defaults)
local changed = {}
for i, before in ipairs(redis.call('HMGET', keys.space(), unpack(names))) do
  local name = names[i]
  before = before or values[name]
  if asked[name] ~= 'default' then values[name] = asked[name] or before end
  if values[name] ~= before then
    redis.call('HSET', keys.space(), name, values[name])
    changed[name] = tonumber(values[name])
  end
end
if rpm then values.requestsPerMinute = math.min(rpm, values.requestsPerMinute) end
if not next(changed) then return call.unchanged({ limits = limits.text(values, names) }) end
emit.limits.updated(spaceId, changed)
audit('limits.updated', redis.call('HGET', keys.apiKey(apiKeyDigest), 'keyId'), spaceId, cjson.encode(changed))
return call.done({ limits = limits.text(values, names) })
