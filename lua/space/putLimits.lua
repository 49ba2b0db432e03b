--- Sets some of the space's limits. defaults: the defaults of all limits; requested: the limits to set, `default` to
--- reset one; granted: the highest value of each in any plan. A default above the plan is not refused, but capped on
--- reading.
--- @request write
--- @args defaults granted requested
--- @reply limits
--- @include lib/call lib/caller lib/rates lib/records lib/space space/_limits
local values, names = limits.read(defaults)
records.fill(keyspace.record, names)

if limits.change(values, names, keyspace.record, requested, granted, caller.actor) then
  rates.setQuota(keyspace.record)
  return call.answer({ limits = limits.text(values, names) }, 'operation')
end
return call.answer({ limits = limits.text(values, names) })
