--- A mailbox as it stands.
--- @args mailboxId
--- @reply mailbox:mailbox
--- @include "lib/call"
--- @include "mailbox/_view"
call.read()
return call.answer({ mailbox = mailbox.view(mailboxId) or refuse('MAILBOX_NOT_FOUND') })
