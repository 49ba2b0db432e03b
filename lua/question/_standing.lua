--- @include lib/call lib/clock lib/refuse lib/sendBack mailbox/_live mailbox/_message question/_question scope/_scope

--- Refuses unless a question is OPEN, swept or not. A cancelled run has withdrawn its questions.
function question.needOpen(record)
  if record.state ~= 'OPEN' then refuse('QUESTION_CLOSED', record.state) end
  if scope.cancelOf(scope.path(record.scopeId)) then refuse('QUESTION_CLOSED', 'WITHDRAWN') end
  local changesAt = record.expiresAt
  if record.messageId then changesAt = math.min(changesAt, message.changesAt(message.read(record.messageId))) end
  -- It expired after the sweep, if any, that this call waited for.
  if changesAt <= now then sendBack('DUE') end
end
