--- @include lib/inRun question/_question
inRun.questions = {}

function inRun.questions.index(scopeId)
  return keys.scopeQuestions(scopeId)
end

function inRun.questions.row(id)
  return rows.questionSummary(question.view(id))
end
