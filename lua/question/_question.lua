--- @record question
--- @include lib/caller lib/clock lib/count lib/decimal lib/finished lib/journal lib/maps lib/records lib/refuse
--- @include lib/sorted lib/space lib/timer
--- A question's record and its transitions: OPEN, then ANSWERED, EXPIRED or WITHDRAWN.

--- The fields that transitions need. Refuses if there is no such question.
function question.read(questionId)
  return question.load(questionId, 'scopeId', 'messageId', 'mailboxId', 'state', 'options', 'expiresAt', 'fails',
    'links')
    or refuse('QUESTION_NOT_FOUND')
end

function question.view(questionId)
  return question.load(questionId) or refuse('QUESTION_NOT_FOUND')
end

--- Whether the caller may use the mailbox of the message that asked it, if any.
function question.isVisible(record)
  return not record.mailboxId or caller.hasMailbox(record.mailboxId)
end

--- Opens a new question. record: without a state.
function question.open(record)
  question.insert(record)
  question.enter(record, 'OPEN')
  sorted.add(keys.questions(), '0', record.id)
  sorted.add(keys.openQuestions(), '0', record.id)
  sorted.add(keys.scopeQuestions(record.scopeId), '0', record.id)
  if record.messageId then sorted.add(keys.messageQuestions(record.messageId), '0', record.id) end
  count.space('timers:ARMED', 1)
  count.space('retainedBytes', #record.question)
  timer.arm('question:expiry', record.id, record.expiresAt)
  emit.question.asked(record.id, record)
end

--- Adds a link by the digest of its token. Its holder may answer the question.
function question.link(record, digest)
  maps.put(keys.links(), digest, spaceNumber .. ' ' .. record.id)
  records.set(record, 'links', record.links and record.links .. ' ' .. digest or digest)
end

--- Moves an OPEN question to a final state at the time `at`. emitter: emits its event, with the cause.
function question.finish(record, state, at, emitter, cause)
  question.enter(record, state)
  sorted.remove(keys.openQuestions(), record.id)
  timer.disarm('question:expiry', record.id)
  count.space('timers:ARMED', -1)
  if not record.messageId then finished.add('question:question', record.id, decimal(at)) end
  emitter(record.id, record, cause)
  journal.wake(record.id)
end
