--- @include lib/caller lib/guards lib/hooks question/_question
--- What the room adds to the work of others: see lib/hooks.

inRun.questions = {}

function inRun.questions.index(scopeId)
  return keys.scopeQuestions(scopeId)
end

function inRun.questions.row(id)
  return rows.questionSummary(question.view(id))
end

--- For a caller limited to mailboxes. Any caller may use a question that no message asked.
function guards.questionId(questionId)
  local record = question.load(questionId, 'scopeId', 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end
