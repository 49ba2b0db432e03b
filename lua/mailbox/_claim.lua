--- @export checkClaim
--- @include lib/clock lib/refuse mailbox/_attempts mailbox/_message scope/_scope

--- How an earlier claim, that of this token, ended, with its attempt and when; nil if the message never had such a claim.
local function earlierEnd(record, token)
  local isToken = #token == 32 and not string.find(token, '%X')
  -- Until its first claim has ended, a message has had no other token. A requeued message counts its attempts from 0 again,
  -- but has a place.
  local isFirst = not record.place and (record.attempts == 0 or record.attempts == 1 and record.token)
  if not isToken or isFirst then return nil end
  local how, attempt, at, isComplete = attempts.find(record, token)
  if how then return how, attempt, at end
  return not isComplete and 'EARLIER' or nil
end

--- How the current or last claim of a message ended, whose token was given.
local function ownEnd(record, cancel)
  if cancel then return 'CANCELLED', record.attempts, cancel.cancelledAt end
  if record.state == 'CLAIMED' then return 'LEASE_EXPIRED', record.attempts, record.leaseExpiresAt end
  local how, attempt, at = attempts.find(record, record.token)
  if how then return how, attempt, at end
  return record.state, record.attempts, record.finishedAt
end

--- What became of a claim, in words separated by blanks, `-` for none: how it ended, its attempt and when; then the message's
--- state now, since or until when, its attempts, and the reason of its end.
local function fate(record, token)
  message.load(record.id, 'pastAttempts', 'claimedAt', 'finishedAt', 'readyAt', 'reason')
  local cancel = message.isLive(record) and scope.cancelFor(record)
  local isOwn = record.token == token
  local find, by = earlierEnd, token
  if isOwn then find, by = ownEnd, cancel end
  local how, attempt, endedAt = find(record, by)
  if not how then return 'NOT_ISSUED' end
  local state, at = message.stateNow(record), record.finishedAt
  if cancel then
    state, at = 'CANCELLED', cancel.cancelledAt
  elseif state == 'CLAIMED' then
    -- Its lease has ended, swept or not.
    if isOwn then state = '-' else at = record.claimedAt end
  elseif state == 'DELAYED' then
    at = record.readyAt
  end
  local reason = cancel and 'RUN_CANCELLED' or record.reason
  return string.format('%s %d %d %s %d %d %s', how, attempt or 0, endedAt or 0, state, at or 0, record.attempts, reason or '-')
end

--- Refuses unless the token holds a live claim on the message; the detail says what became of the claim. A lease has ended
--- once its time is up, swept or not.
local function checkClaim(record, token)
  if not record then refuse('MESSAGE_NOT_FOUND') end
  if record.token == token and record.state == 'CLAIMED' and record.leaseExpiresAt > now and not scope.cancelFor(record) then
    return
  end
  refuse('CLAIM_LOST', fate(record, token))
end
