--- @include "lib/refuse"
--- @include "mailbox/_message"
--- The claim that a token stands for, or a refusal that says what became of it. Over is over, swept or not.
local function claimOf(messageId, token)
  local record = message.read(messageId)
  if not record then refuse('MESSAGE_NOT_FOUND') end
  if record.state ~= 'CLAIMED' then
    refuse('CLAIM_LOST', record.state == 'READY' and 'LAPSED' or 'FINISHED')
  end
  if record.token ~= token then refuse('CLAIM_LOST', 'CLAIMED_AGAIN') end
  if record.leaseExpiresAt <= now then refuse('CLAIM_LOST', 'LAPSED') end
  return record
end
