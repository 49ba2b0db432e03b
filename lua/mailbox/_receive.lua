--- @export receive
--- @include lib/again lib/sorted lib/space lib/timer mailbox/_delay mailbox/_end mailbox/_message mailbox/_others
--- @include mailbox/_parked mailbox/_paused mailbox/_ready mailbox/_requires scope/_scope
--- The first parts of a receive: it chooses the next message, and passes over one that cannot be claimed.
local receive = {}

--- The queue, member and score of the next message of a scope or, scopeId `*`, of the run whose turn it is; no member
--- if there is none. Last, the name of the background timer that must fire before it can be told; nil for none.
--- through: the moment up to which timers have fired; anyPaused: whether messages of the space may be paused.
function receive.choose(box, scopeId, through, anyPaused)
  local queue, member, score = scopeId, nil, nil
  if queue == '*' then
    if not box.turn or box.turn < 0 then return nil, nil, nil, timer.named('mailbox:turns', box.id) end
    if not anyPaused then queue = sorted.first(keys.turns(box.id)) end
  end
  if anyPaused then
    queue, member, score = paused.next(box.id, queue)
  elseif queue then
    member, score = ready.first(box.id, queue)
  end
  if box.nextReadyAt and delay.isFirst(box, score, through) then
    return nil, nil, nil, timer.named('mailbox:delays', box.id)
  end
  return queue, member, score
end

--- The record of a queue's member, with all that a claim shows.
function receive.load(member)
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
  return record
end

--- At most so many bytes of an answer are a message's record, beside its payload, progress and question: names, ids and
--- moments; texts, which JSON may escape; lists, which are shorter as they are stored. holderBytes: of the receiver's
--- names.
function receive.bytesBeside(record, holderBytes)
  local texts = #(record.lastError or '') + #(record.key or '') + #(record.workKey or '') + #(record.taskKey or '')
    + #(record.tracestate or '') + holderBytes
  return 2048 + 2 * texts + 6 * (#(record.prerequisites or '') + #(record.required or ''))
    + (record.question and 1024 or 0) + 6 * (#(record.awaited or '') + #(record.awaitedNote or ''))
end

--- Passes over a READY message that is cancelled with its run, or short of the units that it requires. Returns
--- whether it is passed over, and whether the receive ends with the messages that it has. member, score: its place in
--- `queue`; scopeId: whose messages are received; isFirst: none has been claimed yet.
function receive.passOver(record, path, box, queue, member, score, scopeId, isFirst)
  if scope.cancelOf(path) then
    if not isFirst or scopeId ~= '*' and scope.cancelOf(path, scopeId) then return true, true end
    skip.cancelled(box.id, queue, record.id)
    again('MORE')
  end
  local kind, lackedId, at = requires.short(record.required)
  if not kind then return false end
  record.mailboxId, record.state = box.id, 'READY'
  parked.hold(record, path, member, score, kind, lackedId, at)
  return true
end
