--- The most frequent errors with which attempts failed in a mailbox on a UTC day. day: since 1970, '' for today.
--- @request read
--- @args mailboxId day maxErrors
--- @reply errors:errorCount[]
--- @include lib/call lib/day lib/refuse mailbox/_errors mailbox/_mailbox
if not mailbox.read(mailboxId) then refuse('MAILBOX_NOT_FOUND') end
return call.answer({ errors = failures.of(mailboxId, tonumber(day) or tonumber(today), maxErrors) })
