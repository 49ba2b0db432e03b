--- Starts bulk work on the messages of a mailbox, or of a scope and the scopes below it; the other id is ''. Workers do
--- it, in steps (bulk/step). messageState: the state of the messages to change, '' for all that the action applies to.
--- @request write
--- @args mailboxId scopeId action messageState tail
--- @reply bulk:bulk
--- @include lib/audit lib/call lib/caller lib/clock lib/count lib/id lib/plan lib/refuse lib/sorted lib/space lib/timer
--- @include bulk/_bulk mailbox/_mailbox scope/_scope

-- Each takes its share of the workers' time. Whoever needs more at once can do with fewer, larger ones.
local maxRunning = 10

if mailboxId ~= '' and not mailbox.read(mailboxId) then refuse('MAILBOX_NOT_FOUND') end
if scopeId ~= '' and not scope.path(scopeId) then refuse('SCOPE_NOT_FOUND') end
plan.needOperation()
if count.read('bulks:RUNNING') >= maxRunning then refuse('BULKS_FULL', maxRunning) end

local record = { id = newId(tail), mailboxId = mailboxId ~= '' and mailboxId, scopeId = scopeId ~= '' and scopeId,
  action = action, messageState = messageState ~= '' and messageState, requestId = requestId, actor = caller.actor() }
bulk.insert(record)
bulk.enter(record, 'RUNNING')
sorted.add(keys.bulks(), '0', record.id)
if record.scopeId then sorted.add(keys.scopeBulks(scopeId), '0', record.id) end
timer.armInBackground('bulk:step', record.id, now)
emit.bulk.started(record.id, record)
audit('bulk.started', caller.actor(), record.id, inSpace('"action":"' .. action .. '","'
  .. (record.scopeId and 'scopeId' or 'mailboxId') .. '":"' .. mailboxId .. scopeId .. '"'))
return call.answer({ bulk = record }, 'operation')
