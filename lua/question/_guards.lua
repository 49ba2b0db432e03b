--- @include lib/caller lib/guards question/_question
--- For a caller limited to mailboxes. Any caller may use a question that no message asked.
function guards.questionId(questionId)
  local record = question.load(questionId, 'scopeId', 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end
