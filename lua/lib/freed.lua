--- @registry freed
--- Called when units become free. mailbox/_parked adds:
---
--- units(kind, id, at): units of a pool (kind POOL) or an allowance (ALLOWANCE) are free since `at` (nil: now), and its own
--- queue is empty.
local freed = {}
