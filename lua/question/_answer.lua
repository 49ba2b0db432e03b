--- @include lib/audit lib/caller lib/clock lib/count lib/records lib/refuse lib/space mailbox/_message mailbox/_return
--- @include question/_question question/_standing
--- @space maxPayloadBytes

--- Whether a text is one of these lines, none of which is empty.
local function isAmong(lines, text)
  return text ~= '' and string.find('\n' .. lines .. '\n', '\n' .. text .. '\n', 1, true) ~= nil
end

--- Answers an OPEN question and frees its message. choice: the answer if it can be one of the options, else ''; via:
--- API or PAGE.
function question.answer(record, answer, choice, answeredBy, via)
  question.needOpen(record)
  if record.options and not isAmong(record.options, choice) then
    refuse('VALIDATION_FAILED', 'answer must be one of the options: ' .. string.gsub(record.options, '\n', ', '))
  end
  local limit = tonumber(keyspace.record.maxPayloadBytes)
  if #answer > limit then refuse('PAYLOAD_TOO_LARGE', 'answer ' .. limit) end

  records.set(record, 'answer', answer)
  records.set(record, 'answeredBy', answeredBy)
  records.set(record, 'answeredVia', via)
  records.set(record, 'answeredAt', now)
  count.space('retainedBytes', #answer)
  question.finish(record, 'ANSWERED', now, emit.question.answered)
  audit('question.answered', caller.actor(), record.id, inSpace('"answeredBy":' .. cjson.encode(answeredBy)))
  if record.messageId then aside.resume(message.read(record.messageId), now) end
end
