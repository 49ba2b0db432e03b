--- A mailbox as it stands.
--- @request read
--- @args mailboxId
--- @reply mailbox:mailbox
--- @include "lib/call"
--- @include "lib/refuse"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_view"
return call.answer({ mailbox = mailbox.view(mailboxId) or refuse('MAILBOX_NOT_FOUND') })
