--- @registry pausing
--- @include lib/count lib/invocation
--- What else happens when something is paused or resumed, added by mailbox/_paused:
---
--- changed(): anything was paused or resumed.
--- resumed(): a scope was resumed, and what waits to receive in it is to look again.
local pausing = {}

--- Counts what is paused in the space.
function pausing.add(change)
  invocation.hasWithheld = true
  count.space('paused', change)
  count.space('withheld', change)
end
