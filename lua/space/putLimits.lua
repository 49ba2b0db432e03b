--- Sets some of the space's limits. defaults: of all limits there are; requested: those to set, where `default` puts one
--- back: a default above the plan is no refusal, it is cut to the plan when read; granted: the most of each that a plan
--- may grant.
--- @args defaults granted requested
--- @reply limits
--- @include "lib/call"
--- @include "lib/audit"
--- @include "space/_limits"
local values, names = limits.read(defaults)
local function open(replay, ...) return replay, { ... } end
local replay, stored = open(call.open(unpack(names)))
if replay then return replay end
local asked, most = limits.read(requested), limits.read(granted)
local rpm, askedRpm = tonumber(maps.get(keys.org(), 'rpm')), tonumber(asked.requestsPerMinute)
if rpm and askedRpm and askedRpm > rpm then refuse('ENTITLEMENT_EXCEEDED', 'requestsPerMinute ' .. rpm) end
if askedRpm and askedRpm > tonumber(most.requestsPerMinute) then
  refuse('VALIDATION_FAILED', 'requestsPerMinute must be a whole number from 1 to ' .. most.requestsPerMinute)
end
for name, largest in pairs(most) do
  if (tonumber(asked[name]) or 0) > tonumber(largest) then refuse('ENTITLEMENT_EXCEEDED', name .. ' ' .. largest) end
end

local changed = {}
for i, name in ipairs(names) do
  local before = stored[i] or values[name]
  if asked[name] ~= 'default' then values[name] = asked[name] or before end
  if values[name] ~= before then
    records.put(keys.space(), name, values[name])
    changed[name] = tonumber(values[name])
  end
end
if rpm then values.requestsPerMinute = math.min(rpm, values.requestsPerMinute) end
if not next(changed) then return call.unchanged({ limits = limits.text(values, names) }) end
emit.limits.updated(spaceId, changed)
audit('limits.updated', caller.keyId(), spaceId, cjson.encode(changed))
return call.done({ limits = limits.text(values, names) })
