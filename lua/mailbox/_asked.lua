--- @registry asked
--- Questions asked by messages; question/_ofMessage adds:
---
--- find(questionId): a question as replies show it.
--- bytes(record): the total length of its texts; 0 for no question.
--- withdraw(questionId, at, cause): its message ended at `at`; cause: of the event.
--- forget(messageId, finishedAt): retention has removed a message that asked questions.
local asked = {}
