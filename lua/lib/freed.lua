--- @registry freed
--- What happens when units may be had again, added by mailbox/_parked:
---
--- units(kind, id, at): units of the pool (kind POOL) or the allowance (ALLOWANCE) are free since `at` (nil: now), and nobody waits for them by itself.
local freed = {}
