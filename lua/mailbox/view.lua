--- A mailbox.
--- @request read
--- @args mailboxId
--- @reply mailbox:mailbox
--- @include lib/call lib/refuse mailbox/_mailbox mailbox/_view
return call.answer({ mailbox = mailbox.view(mailboxId) or refuse('MAILBOX_NOT_FOUND') })
