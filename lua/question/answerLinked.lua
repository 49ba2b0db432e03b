--- Answers a link's OPEN question from its page; a second answer is refused. answer, choice: see question/answer.
--- @request write link
--- @args choice answeredBy
--- @long answer
--- @reply question:question
--- @include lib/call lib/caller question/_answer question/_question
local record = question.view(caller.linkedId())
question.answer(record, answer, choice, answeredBy, 'PAGE')
return call.answer({ question = record }, 'operation')
