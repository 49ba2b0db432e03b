--- @export attempts checkClaim
--- @include lib/clock lib/cut lib/records lib/refuse mailbox/_message scope/_scope
--- The history of a message's attempts, for people who ask why it does not succeed. A message that is ACKED at its
--- first attempt keeps none, because its own fields show it all. Each attempt is a line of JSON, the oldest first:
--- `[attempt, holder, claimedAt, endedAt, outcome, error, progress, token]`, with false for an absent value; of the
--- token, the beginning. Lines from before tokens were kept end earlier.
local attempts = {}

--- The most attempts kept, and the most bytes of an error and of progress; all together below 10 KB.
local maxKept, maxError, maxProgress = 10, 300, 256
local tokenLength = 8

--- Keeps the current attempt of a CLAIMED message, which ended at `at`. Call it before the claim is dropped, and before
--- an attempt is taken back. reported: the error that its worker reported, or nil.
function attempts.keep(record, at, outcome, reported)
  message.load(record.id, 'holder', 'claimedAt', 'progress', 'pastAttempts')
  local progress = record.progress and #record.progress <= maxProgress and record.progress
  local line = cjson.encode({ record.attempts, record.holder, record.claimedAt, at, outcome,
    reported and beginningOf(reported, maxError) or false, progress or false,
    string.sub(record.token, 1, tokenLength) })
  local lines = { line }
  for kept in string.gmatch(record.pastAttempts or '', '[^\n]+') do table.insert(lines, #lines, kept) end
  if #lines > maxKept then table.remove(lines, 1) end
  records.set(record, 'pastAttempts', table.concat(lines, '\n'))
end

--- The outcome, the number and the end of the kept attempt that had this token; nil if there is none. Then also whether
--- all attempts are known, so that the token is none of this message's. record: with pastAttempts.
function attempts.find(record, token)
  local start, isComplete, lines = string.sub(token, 1, tokenLength), true, 0
  local how, number, at
  for line in string.gmatch(record.pastAttempts or '', '[^\n]+') do
    local attempt, _, _, endedAt, outcome, _, _, itsStart = unpack(cjson.decode(line))
    lines = lines + 1
    if itsStart == start then how, number, at = outcome, attempt, endedAt end
    if not itsStart then isComplete = false end
  end
  return how, number, at, isComplete and lines < maxKept
end

--- How an earlier claim, that of this token, ended, with its attempt and when; nil if the message never had such a
--- claim.
local function earlierEnd(record, token)
  local isToken = #token == 32 and not string.find(token, '%X')
  -- Until its first claim has ended, a message has had no other token. A requeued message counts its attempts from 0
  -- again, but has a place.
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

--- What became of a claim, in words separated by blanks, `-` for none: how it ended, its attempt and when; then the
--- message's state now, since or until when, its attempts, and the reason of its end.
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
  return string.format('%s %d %d %s %d %d %s', how, attempt or 0, endedAt or 0, state, at or 0, record.attempts,
    reason or '-')
end

--- Refuses unless the token holds a live claim on the message; the detail says what became of the claim. A lease has
--- ended once its time is up, swept or not.
local function checkClaim(record, token)
  if not record then refuse('MESSAGE_NOT_FOUND') end
  if record.token == token and record.state == 'CLAIMED' and record.leaseExpiresAt > now
      and not scope.cancelFor(record) then
    return
  end
  refuse('CLAIM_LOST', fate(record, token))
end
