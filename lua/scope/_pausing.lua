--- @registry pausing
--- What else happens when something is paused or resumed, added by mailbox/_paused:
---
--- changed(): anything was paused or resumed.
--- resumed(): a scope was resumed, and what waits to receive in it is to look again.
local pausing = {}
