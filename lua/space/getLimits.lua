--- The space's effective limits. defaults: the defaults of all limits.
--- @request read
--- @args defaults
--- @reply limits
--- @include lib/call lib/records lib/space space/_limits
local values, names = limits.read(defaults)
records.fill(keyspace.record, names)
for _, name in ipairs(names) do values[name] = keyspace.record[name] or values[name] end
limits.cap(values)
return call.answer({ limits = limits.text(values, names) })
