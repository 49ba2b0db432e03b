--- How often messages were sent, claimed and ended, in the space or, with a mailboxId, in a mailbox. totals: since it
--- was created; places: the closed minutes (see mailbox/_figures).
--- @request read
--- @args mailboxId
--- @reply now openMinute totals places
--- @include lib/call lib/clock lib/refuse mailbox/_figures
local openMinute, totals, places = figures.read(mailboxId)
if not openMinute then refuse('MAILBOX_NOT_FOUND', 'query.mailboxId') end
return call.answer({ now = now, openMinute = openMinute, totals = totals, places = places })
