--- @registry claimants
--- Claims that hold units of a pool; mailbox/_requires adds:
---
--- of(poolId, last): the claims up to this index, in the form of holds: id, scopeId, holder, holderSession, units.
local claimants = {}
