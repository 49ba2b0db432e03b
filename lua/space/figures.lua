--- Figures of the space by name: gauges of a room's _gauges.lua, or counters of the space's record, whose cost does not
--- depend on how much is stored.
--- @request read
--- @args names
--- @reply values
--- @include lib/call lib/hooks lib/records lib/space
local list = {}
for name in string.gmatch(names, '[^,]+') do list[#list + 1] = name end
records.fill(keyspace.record, list)
local values = {}
for i, name in ipairs(list) do
  if gauges[name] then values[i] = gauges[name](16) else values[i] = keyspace.record[name] end
end
return call.answer({ values = values })
