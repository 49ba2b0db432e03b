--- Answers an OPEN question. The first answer stands; the same answer by the same person changes nothing. answer: JSON;
--- choice: the answer if it can be one of the options, else ''.
--- @request write
--- @args questionId choice answeredBy
--- @long answer
--- @reply question:question
--- @include lib/call lib/caller question/_answer question/_question
if answeredBy == '' then answeredBy = caller.needOwnName('answeredBy') end
local record = question.view(questionId)
if record.state == 'ANSWERED' and record.answer == answer and record.answeredBy == answeredBy then
  return call.answer({ question = record })
end

question.answer(record, answer, choice, answeredBy, 'API')
return call.answer({ question = record }, 'operation')
