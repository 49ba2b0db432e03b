--- @registry claimants
--- Who has units of a pool besides its holds, added by mailbox/_requires:
---
--- of(poolId, last): the claims that hold units of it, up to the one with this index, each as a hold is: id, scopeId, holder,
--- holderSession, units.
local claimants = {}
