--- Admits a caller who asks for the receives that are held, of the space or, with a mailboxId, of a mailbox. The API
--- processes know them (src/primitives/mailbox/receivers.ts).
--- @request read
--- @args mailboxId
--- @reply asOf
--- @include lib/call lib/clock lib/refuse mailbox/_mailbox
if mailboxId ~= '' and not mailbox.load(mailboxId, 'mode') then refuse('MAILBOX_NOT_FOUND', 'query.mailboxId') end
return call.answer({ asOf = now })
