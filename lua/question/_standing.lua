--- @include lib/again lib/call lib/clock lib/refuse mailbox/_message mailbox/_others question/_question scope/_scope

--- Refuses unless a question is OPEN, swept or not. A cancelled run has withdrawn its questions.
function question.needOpen(record)
  if record.state ~= 'OPEN' then refuse('QUESTION_CLOSED', record.state) end
  if scope.cancelFor(record) then refuse('QUESTION_CLOSED', 'WITHDRAWN') end
  local changesAt, asker = record.expiresAt, record.messageId and message.read(record.messageId)
  if asker then changesAt = math.min(changesAt, message.changesAt(asker)) end
  -- It ended after the sweep, if any, that this call waited for.
  if changesAt <= now or asker and asker.groupId and members.overdue(asker) then again('DUE') end
end
