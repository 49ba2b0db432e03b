--- @export checkClaim
--- @include lib/clock lib/refuse mailbox/_message scope/_scope

--- Why a token other than the message's current one holds no claim. Earlier tokens are not stored, but until its first
--- claim has ended, a message has none.
local function whyOther(record, token)
  -- A requeued message counts its attempts from 0 again, but has a place.
  local isFirst = not record.place and (record.attempts == 0 or record.attempts == 1 and record.token)
  local isToken = #token == 32 and not string.find(token, '%X')
  if not isToken or isFirst then return 'NOT_ISSUED' end
  if record.state == 'CLAIMED' then return 'CLAIMED_AGAIN' end
  return message.isLive(record) and 'LAPSED' or 'FINISHED'
end

--- Refuses unless the token holds a live claim on the message; the detail says what became of the claim. A lease has ended
--- once its time is up, swept or not.
local function checkClaim(record, token)
  if not record then refuse('MESSAGE_NOT_FOUND') end
  if record.token ~= token then refuse('CLAIM_LOST', whyOther(record, token)) end
  if record.state ~= 'CLAIMED' or scope.cancelFor(record) then refuse('CLAIM_LOST', 'FINISHED') end
  if record.leaseExpiresAt <= now then refuse('CLAIM_LOST', 'LAPSED') end
end
