--- @include lib/records lib/sorted mailbox/_message
local ofClaim = { 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt' }

--- Ends the claim of a message that continues without it.
function message.dropClaim(record)
  for _, field in ipairs(ofClaim) do records.set(record, field, false) end
  sorted.remove(keys.claims(), record.id)
end
