--- @include lib/clock lib/hooks lib/page question/_question scope/_ending

--- Withdraws an OPEN question of a cancelled run that no message asked.
function question.stop(record, cancel)
  question.finish(record, 'WITHDRAWN', now, emit.question.withdrawn, ending.count(cancel, 'cancelledQuestions'))
end

cancels.questions = { total = 'cancelledQuestions' }

function cancels.questions.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeQuestions(scopeId), last, maxRecords)
end

--- A question asked by a message ends with that message.
function cancels.questions.stop(id, cancel)
  local record = question.read(id)
  if record.state ~= 'OPEN' or record.messageId then return 0 end
  question.stop(record, cancel)
  return 1
end
