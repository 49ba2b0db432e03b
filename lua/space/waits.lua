--- Waits and holds in the space, at most `maxRows` rows of each list, and whether any list has more. lists: name and
--- rows of each room's list.
--- @request read
--- @args maxRows
--- @reply asOf lists truncated
--- @include lib/call lib/clock lib/hooks
local lists, truncated = {}, false
for name, read in pairs(waiting) do
  local shown, more = read(tonumber(maxRows))
  lists[#lists + 1] = { name, shown }
  truncated = truncated or more
end
return call.answer({ asOf = now, lists = lists, truncated = truncated })
