--- @registry asked
--- Questions that messages have asked, added by question/_ofMessage:
---
--- find(questionId): a question as replies show it. bytes(record): how long its texts are; 0 for none.
--- withdraw(questionId, at, cause): its message is over since `at`; cause: of its event.
--- forget(messageId, finishedAt): retention has removed a message that has asked.
local asked = {}
