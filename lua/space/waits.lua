--- What waits in the space and what is held there, at most `most` of each, and whether there is more of any. lists: what
--- each room shows, as name and rows.
--- @args most
--- @reply asOf lists truncated
--- @include "lib/call"
--- @include "lib/waiting"
--- @include "*/_waits"
call.read()
local lists, truncated = {}, false
for name, read in pairs(waiting) do
  local shown, more = read(tonumber(most))
  lists[#lists + 1] = { name, shown }
  truncated = truncated or more
end
return call.answer({ asOf = now, lists = lists, truncated = truncated })
