--- The space's effective limits. defaults: of all limits.
--- @args defaults
--- @reply limits
--- @include "lib/call"
--- @include "space/_limits"
local values, names = limits.read(defaults)
for i, value in ipairs({ call.read(unpack(names)) }) do
  values[names[i]] = value or values[names[i]]
end
values.requestsPerMinute = rates.quota()
return call.answer({ limits = limits.text(values, names) })
