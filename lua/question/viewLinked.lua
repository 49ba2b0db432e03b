--- A link's question, with the names of its mailbox and its run, false where it has none.
--- @request read link
--- @args
--- @reply question:question mailboxName scopeName
--- @include lib/call lib/caller mailbox/_mailbox question/_question scope/_scope
local record = question.view(caller.linkedId())
local box = record.mailboxId and mailbox.load(record.mailboxId, 'name')
local run = scope.load(record.scopeId, 'name')
return call.answer({ question = record, mailboxName = box and box.name, scopeName = run and run.name })
