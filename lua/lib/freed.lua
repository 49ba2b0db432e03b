--- @registry freed
--- What happens when units may be had again, added by mailbox/_parked:
---
--- units(kind, id): units of the pool (kind POOL) or the allowance (ALLOWANCE) are free, and nobody waits for them by itself.
local freed = {}
