--- Answers the OPEN question of a link, from its page; again is refused. answer: as JSON; choice: as there.
--- @request write link
--- @args choice answeredBy
--- @long answer
--- @reply question:question
--- @include lib/call lib/caller question/_answer question/_question
local record = question.view(caller.linkedId())
question.answer(record, answer, choice, answeredBy, 'PAGE')
return call.answer({ question = record }, 'operation')
