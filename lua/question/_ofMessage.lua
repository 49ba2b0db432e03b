--- @include lib/count lib/finished lib/hooks lib/maps lib/sorted lib/space lib/unit lib/usage mailbox/_others
--- @include question/_question scope/_retain scope/_scope space/_space

--- Removes a question and its links. at: when it or its message finished.
function question.remove(questionId, at)
  usage.enterToday(space.load(spaceId, 'usageDay'))
  local record = question.load(questionId)
  for digest in string.gmatch(record.links or '', '%S+') do maps.remove(keys.links(), digest) end
  count.space('retainedBytes', -#record.question - #(record.answer or ''))
  unit.delete(keys.question(questionId))
  sorted.remove(keys.questions(), questionId)
  sorted.remove(keys.scopeQuestions(record.scopeId), questionId)
  question.leave(record.state)
  scope.release(record.scopeId, at)
end

--- Removes a question that no message asked.
retained['question:question'] = function(questionId, at)
  question.remove(questionId, at)
end

--- The questions of a message (mailbox/_others).

function asked.find(questionId)
  return question.load(questionId)
end

function asked.bytes(record)
  return record and #record.question + #(record.options or '') + #(record.answer or '') or 0
end

--- If a question has just ended its message by expiring, it is no longer OPEN.
function asked.withdraw(questionId, at, cause)
  local record = question.read(questionId)
  if record.state == 'OPEN' then question.finish(record, 'WITHDRAWN', at, emit.question.withdrawn, cause) end
end

--- A message has up to a hundred questions, and messages are removed a hundred at a time, so the next step of retention
--- removes the questions.
function asked.forget(messageId, finishedAt)
  finished.add('question:ofMessage', messageId .. ' ' .. string.format('%d', finishedAt), '0')
end

retained['question:ofMessage'] = function(member)
  local messageId, finishedAt = string.match(member, '^(%S+) (%S+)$')
  local ids = redis.call('ZRANGE', keys.messageQuestions(messageId), 0, -1)
  unit.delete(keys.messageQuestions(messageId))
  for _, id in ipairs(ids) do question.remove(id, tonumber(finishedAt)) end
  return #ids
end
