--- @include "lib/refuse"
--- @include "scope/_scope"
--- @include "mailbox/_message"
--- Refuses unless the token stands for a live claim on the message, and says what became of it. Over is over, swept
--- or not.
local function checkClaim(record, token)
  if not record then refuse('MESSAGE_NOT_FOUND') end
  if record.state ~= 'CLAIMED' then refuse('CLAIM_LOST', record.state == 'READY' and 'LAPSED' or 'FINISHED') end
  if scope.cancelOf(scope.path(record.scopeId)) then refuse('CLAIM_LOST', 'FINISHED') end
  if record.token ~= token then refuse('CLAIM_LOST', 'CLAIMED_AGAIN') end
  if record.leaseExpiresAt <= now then refuse('CLAIM_LOST', 'LAPSED') end
end
