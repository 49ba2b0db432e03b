--- @include "lib/refuse"
--- @include "mailbox/_message"
--- Refuses unless the token stands for a live claim on the message, and says what became of it. Over is over, swept
--- or not.
local function checkClaim(record, token)
  if not record then refuse('MESSAGE_NOT_FOUND') end
  if record.state ~= 'CLAIMED' then refuse('CLAIM_LOST', message.isLive(record.state) and 'LAPSED' or 'FINISHED') end
  if record.token ~= token then refuse('CLAIM_LOST', 'CLAIMED_AGAIN') end
  if record.leaseExpiresAt <= now then refuse('CLAIM_LOST', 'LAPSED') end
end
