--- A space's effective limits, for its operator, who may set some of them. requested: see space/putLimits.
--- @args spaceId requestId defaults granted requested
--- @reply limits
--- @include lib/records lib/refuse lib/space lib/unit space/_limits
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
if not keyspace.find() then refuse('SPACE_NOT_FOUND', spaceId) end
local values, names = limits.read(defaults)
if limits.change(values, names, records.stored(keys.space(spaceId)), requested, granted, 'cli') then
  unit.write()
end
return { limits = limits.text(values, names) }
