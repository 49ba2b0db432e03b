--- @include lib/hooks mailbox/_end mailbox/_message mailbox/_return question/_cancel question/_question scope/_scope
--- Nobody has answered by `expiresAt`: the message goes on without an answer, or fails.
due['question:expiry'] = function(questionId, at)
  local record = question.read(questionId)
  if record.state ~= 'OPEN' then return end
  local found = record.messageId and message.read(record.messageId)
  local cancel = scope.cancelFor(record)
  if cancel and cancel.cancelledAt <= at then
    if found then message.stop(found, cancel) else question.stop(record, cancel) end
    return
  end
  question.finish(record, 'EXPIRED', at, emit.question.expired)
  if found and record.fails then
    message.finish(found, 'FAILED', at, emit.message.failed, 'QUESTION_EXPIRED')
  elseif found then
    aside.resume(found, at)
  end
end
