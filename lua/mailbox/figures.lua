--- How often messages were sent, were claimed and ended, of the space or, with a mailboxId, of a mailbox. totals: since it was
--- made; places: the closed minutes, as mailbox/_figures keeps them.
--- @request read
--- @args mailboxId
--- @reply now openMinute totals places
--- @include lib/call lib/clock lib/refuse mailbox/_figures
local openMinute, totals, places = figures.read(mailboxId)
if not openMinute then refuse('MAILBOX_NOT_FOUND', 'query.mailboxId') end
return call.answer({ now = now, openMinute = openMinute, totals = totals, places = places })
