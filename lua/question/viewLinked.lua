--- The question of a link, with the names of the mailbox and the run that it belongs to, false where they have none.
--- @request read link
--- @args
--- @reply question:question mailboxName scopeName
--- @include lib/call lib/caller mailbox/_mailbox question/_question scope/_scope
local record = question.view(caller.linkedId())
local box = record.mailboxId and mailbox.load(record.mailboxId, 'name')
local run = scope.load(record.scopeId, 'name')
return call.answer({ question = record, mailboxName = box and box.name, scopeName = run and run.name })
