--- @include lib/caller lib/guards question/_question
--- For a caller that is limited to mailboxes; a question that no message has asked is anybody's.
function guards.questionId(questionId)
  local record = question.load(questionId, 'scopeId', 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end
