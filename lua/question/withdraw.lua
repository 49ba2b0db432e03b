--- Withdraws an OPEN question that no message waits for. Repeating it changes nothing.
--- @request write
--- @args questionId
--- @reply question:question
--- @include lib/audit lib/call lib/caller lib/clock lib/refuse question/_question question/_standing
local record = question.view(questionId)
if record.state == 'WITHDRAWN' then return call.answer({ question = record }) end
question.needOpen(record)
if record.messageId then refuse('QUESTION_CLOSED', 'MESSAGE') end

question.finish(record, 'WITHDRAWN', now, emit.question.withdrawn)
audit('question.withdrawn', caller.actor(), questionId, inSpace())
return call.answer({ question = record }, 'operation')
