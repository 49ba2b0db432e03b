--- @registry pausing
--- @include lib/count lib/invocation
--- Further effects of pausing and resuming; mailbox/_paused adds:
---
--- changed(): something was paused or resumed.
--- resumed(): a scope was resumed, so receives that wait in it look again.
local pausing = {}

--- Counts pauses in the space.
function pausing.add(change)
  invocation.hasWithheld = true
  count.space('paused', change)
  count.space('withheld', change)
end
