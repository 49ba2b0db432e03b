--- @include lib/count lib/maps lib/retained lib/sorted lib/space lib/unit lib/usage question/_question scope/_retain
--- @include scope/_scope space/_space

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
