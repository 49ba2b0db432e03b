--- Claims the next ready messages of a scope's subtree, at most `max`; scopeId `*`: of all runs in turn. Replies with
--- nothing if there are none. Does not create the scope. leaseSeconds: see lease.seconds, by default 30. tokens: `max`
--- tokens of equal length. isHeld '1': the request is held, so an empty result does not answer it. bytesLimit: of all
--- messages together.
--- @args mailboxId scopeId holder holderSession leaseSeconds max tokens isHeld bytesLimit
--- @reply claims:receivedClaim[]
--- @gather
--- @request write
--- @space maxLeaseSeconds nextLease messages:READY messages:CLAIMED
--- @include lib/again lib/call lib/caller lib/clock lib/day lib/invocation lib/lease lib/plan lib/records lib/refuse
--- @include lib/space lib/usage mailbox/_attemptLimit mailbox/_delay mailbox/_figures mailbox/_mailbox mailbox/_message
--- @include mailbox/_others mailbox/_paused mailbox/_ready mailbox/_receive mailbox/_requires scope/_scope
-- The most messages short of units that a step passes over.
local maxPassed, passed = 100, 0
local ownName = holder == '' and caller.needOwnName('holder') or nil
holder = ownName or holder
local maxLeaseSeconds, nextLease = keyspace.record.maxLeaseSeconds, tonumber(keyspace.record.nextLease)
local box = mailbox.load(mailboxId, 'mode', 'recipientId', 'ready', 'claimed', 'nextReadyAt', 'turn',
  'figuresMinute')
if not box then refuse('MAILBOX_NOT_FOUND') end
if box.mode == 'INBOX' and box.recipientId ~= '' and box.recipientId ~= holder then refuse('RECIPIENT_MISMATCH') end
local seconds = lease.seconds(leaseSeconds, 30, maxLeaseSeconds)
max, bytesLimit = tonumber(max), tonumber(bytesLimit)
local claims, bytes, tokenLength = {}, 0, #tokens / max
local boxLimit = (keyspace.record.withheld ~= 0 or invocation.hasWithheld) and attemptLimit.ofMailbox(mailboxId)
local swept = tonumber(sweptThrough)

local anyPaused = keyspace.record.withheld ~= 0 and paused.any()
if anyPaused then
  if paused.by(mailboxId, scopeId ~= '*' and scope.path(scopeId) or nil) then max = 0 end
elseif box.nextReadyAt then
  -- While anything is paused, only background steps make DELAYED messages READY (below).
  delay.ripenSome(box)
end
while #claims < max do
  local isFirst = not claims[1]
  local queue, member, score, neededTimer = receive.choose(box, scopeId, swept or now, anyPaused)
  if neededTimer and isFirst then again('DUE', neededTimer) end
  if not member then break end
  local record = receive.load(member)
  local path = scope.path(record.scopeId)
  local isPassed, isLast = false, false
  if record.required or scope.cancelOf(path) then
    isPassed, isLast = receive.passOver(record, path, box, queue, member, score, scopeId, isFirst)
  end
  if isLast then break end
  if isPassed then
    passed = passed + 1
    if passed == maxPassed then
      if not isFirst then break end
      again('MORE')
    end
  else
    if isFirst then
      plan.needOperation()
      plan.needAgent()
    elseif not plan.hasOperation(#claims) or not plan.hasAgent() then
      break
    end
    bytes = bytes + #record.payload + #(record.progress or '')
    if record.question then bytes = bytes + asked.bytes(record.question) end
    -- A single message is far below the limit.
    if max > 1 then bytes = bytes + receive.bytesBeside(record, #holder + #holderSession) end
    if bytes > bytesLimit then break end
    -- Its deadline or that of its group passed after the sweep, if any, that this call waited for. An expired message
    -- is never handed out.
    local deadline = record.deadline
    if deadline and deadline <= now and deadline > (swept or 0) or record.groupId and members.overdue(record) then
      if not isFirst then break end
      again('DUE')
    end
    ready.remove(mailboxId, path, member, score)
    if scopeId == '*' and ready.first(mailboxId, queue) then turns.join(mailboxId, queue) end
    record.mailboxId, record.state, record.leaseSeconds, record.ownName = mailboxId, 'READY', seconds, ownName
    if box.figuresMinute ~= minute then figures.turn(mailboxId) end
    message.become(record, 'CLAIMED')
    records.set(record, 'attempts', record.attempts + 1)
    records.set(record, 'token', string.sub(tokens, tokenLength * #claims + 1, tokenLength * (#claims + 1)))
    records.set(record, 'holder', holder)
    records.set(record, 'holderSession', holderSession)
    records.set(record, 'claimedAt', now)
    local endsAt = now + seconds * 1000
    if deadline and deadline < endsAt then endsAt = deadline end
    if boxLimit or record.attemptSeconds then endsAt = attemptLimit.begin(record, boxLimit, endsAt) end
    records.set(record, 'leaseExpiresAt', endsAt)
    lease.hold('mailbox:lease', keys.claims(), record.id, endsAt, nextLease)
    if not nextLease or endsAt < nextLease then nextLease = endsAt end
    records.set(box, 'ready', box.ready - 1)
    records.set(box, 'claimed', box.claimed + 1)
    emit.message.claimed(record.id, record)
    if record.required then requires.take(record) end
    if record.groupId then members.started(record) end
    claims[#claims + 1] = record
  end
end
if not claims[1] then return isHeld == '' and call.answer(nil, 'syscall') or call.answer() end
for _ = 2, #claims do usage.countOperation(callName) end
return call.answer({ claims = claims }, 'operation')
