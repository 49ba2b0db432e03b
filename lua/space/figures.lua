--- Figures of the space by name: gauges of a room's _gauges.lua, or counters of the space's record, which cost the same
--- however much is stored.
--- @args names
--- @reply values
--- @include "lib/call"
--- @include "lib/gauges"
--- @include "*/_gauges"
local list = {}
for name in string.gmatch(names, '[^,]+') do list[#list + 1] = name end
local values = { call.read(unpack(list)) }
for i, name in ipairs(list) do
  if gauges[name] then values[i] = gauges[name](16) end
end
return call.answer({ values = values })
