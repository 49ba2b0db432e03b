--- Claims the next ready messages of a scope's subtree, at most `max`; scopeId `*`: of all runs in turn. Replies with
--- nothing if there are none. Does not create the scope. leaseSeconds: see lease.seconds, by default 30. tokens: `max`
--- tokens of equal length. looksAgain '1': the request is held, so an empty result does not answer it. bytesLimit: of
--- payloads and progress together.
--- @args mailboxId scopeId holder holderSession leaseSeconds max tokens looksAgain bytesLimit
--- @reply claims:receivedClaim[]
--- @gather
--- @request write
--- @space maxLeaseSeconds nextLease messages:READY messages:CLAIMED
--- @include lib/call lib/caller lib/clock lib/day lib/lease lib/plan lib/records lib/refuse lib/sendBack lib/sorted
--- @include lib/space lib/timer lib/usage mailbox/_delay mailbox/_end mailbox/_figures mailbox/_mailbox
--- @include mailbox/_message mailbox/_others mailbox/_parked mailbox/_paused mailbox/_ready mailbox/_requires
--- @include scope/_scope
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
max = tonumber(max)
local claims, bytes = {}, 0
bytesLimit = tonumber(bytesLimit)
local tokenLength, swept = #tokens / max, tonumber(sweptThrough)

local anyPaused = keyspace.record.withheld ~= 0 and paused.any()
if anyPaused then
  if paused.by(mailboxId, scopeId ~= '*' and scope.path(scopeId) or nil) then max = 0 end
elseif box.nextReadyAt then
  -- While anything is paused, only background steps make DELAYED messages READY (below).
  delay.ripenSome(box)
end
while #claims < max do
  local queue, member, score = scopeId, nil, nil
  if queue == '*' then
    if not box.turn then sendBack('DUE', timer.named('mailbox:turns', mailboxId)) end
    if not anyPaused then queue = sorted.first(keys.turns(mailboxId)) end
  end
  if anyPaused then
    queue, member, score = paused.next(mailboxId, queue)
  elseif queue then
    member, score = ready.first(mailboxId, queue)
  end
  local isFirst = not claims[1]
  if box.nextReadyAt and delay.isFirst(box, score, swept or now) then
    if not isFirst then break end
    sendBack('DUE', timer.named('mailbox:delays', mailboxId))
  end
  if not member then break end
  local id = string.sub(member, -36)
  local record = message.load(id, '@receivedClaim:sent')
  if #member > 36 then
    message.load(id, '@receivedClaim:later', 'questionId')
    if record.questionId then record.question = asked.find(record.questionId) end
  else
    -- A message without a place was never claimed and has none of these fields. Looking for one field costs as much as
    -- reading the whole record.
    record.attempts = 0
  end
  local path = scope.path(record.scopeId)
  if scope.cancelOf(path) then
    if not isFirst or scopeId ~= '*' and scope.cancelOf(path, scopeId) then break end
    skip.cancelled(mailboxId, queue, id)
    call.again()
  end
  local kind, lackedId, at
  if record.required then kind, lackedId, at = requires.short(record.required) end
  if kind then
    record.mailboxId, record.state = mailboxId, 'READY'
    parked.hold(record, path, member, score, kind, lackedId, at)
    passed = passed + 1
    if passed == maxPassed then
      if not isFirst then break end
      call.again()
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
    if bytes > bytesLimit then break end
    local deadline = record.deadline or math.huge
    -- Its deadline or that of its group passed after the sweep, if any, that this call waited for. An expired message
    -- is never handed out.
    if deadline <= now and deadline > (swept or 0) or record.groupId and members.overdue(record) then
      if not isFirst then break end
      sendBack('DUE')
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
    records.set(record, 'leaseExpiresAt', math.min(now + seconds * 1000, deadline))
    lease.hold('mailbox:lease', keys.claims(), id, record.leaseExpiresAt, nextLease)
    nextLease = math.min(nextLease or math.huge, record.leaseExpiresAt)
    records.set(box, 'ready', box.ready - 1)
    records.set(box, 'claimed', box.claimed + 1)
    emit.message.claimed(id, record)
    if record.required then requires.take(record) end
    if record.groupId then members.started(record) end
    claims[#claims + 1] = record
  end
end
if not claims[1] then return looksAgain == '' and call.answer(nil, 'syscall') or call.answer() end
for _ = 2, #claims do usage.countOperation(callName) end
return call.answer({ claims = claims }, 'operation')
