--- Sets some of the space's limits. defaults: of all limits; requested: those to set, `default` to reset one; granted: the
--- highest values that any plan allows. A default above the plan is not refused, but capped when it is read.
--- @args defaults granted requested
--- @reply limits
--- @include "lib/call"
--- @include "lib/audit"
--- @include "space/_limits"
local values, names = limits.read(defaults)
local function open(replay, ...) return replay, { ... } end
local replay, stored = open(call.open(unpack(names)))
if replay then return replay end
local newValues, maxValues = limits.read(requested), limits.read(granted)
local rpm, newRpm = tonumber(maps.get(keys.org(), 'rpm')), tonumber(newValues.requestsPerMinute)
if rpm and newRpm and newRpm > rpm then refuse('ENTITLEMENT_EXCEEDED', 'requestsPerMinute ' .. rpm) end
if newRpm and newRpm > tonumber(maxValues.requestsPerMinute) then
  refuse('VALIDATION_FAILED', 'requestsPerMinute must be a whole number from 1 to ' .. maxValues.requestsPerMinute)
end
for name, max in pairs(maxValues) do
  if (tonumber(newValues[name]) or 0) > tonumber(max) then refuse('ENTITLEMENT_EXCEEDED', name .. ' ' .. max) end
end

local changed = {}
for i, name in ipairs(names) do
  local before = stored[i] or values[name]
  if newValues[name] ~= 'default' then values[name] = newValues[name] or before end
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
