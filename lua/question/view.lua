--- A question with its answer.
--- @request read
--- @args questionId
--- @reply question:question
--- @include lib/call question/_question
return call.answer({ question = question.view(questionId) })
