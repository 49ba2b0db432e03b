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

if limits.change(values, names, stored, requested, granted, caller.keyId) then
  return call.done({ limits = limits.text(values, names) })
end
return call.unchanged({ limits = limits.text(values, names) })
