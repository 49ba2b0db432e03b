--- Admits a worker that ends its held receives of a mailbox. The API processes hold them
--- (src/primitives/mailbox/receivers.ts).
--- @request read
--- @args mailboxId
--- @reply
--- @include lib/call lib/refuse mailbox/_mailbox
if not mailbox.load(mailboxId, 'mode') then refuse('MAILBOX_NOT_FOUND') end
return call.answer()
