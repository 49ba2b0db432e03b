--- @include lib/finished lib/retained lib/sorted lib/unit mailbox/_asked question/_question question/_remove
--- The questions of a message (mailbox/_asked).

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
