--- Stops a run: the scope and all below are cancelled from now on. Makes the first step of ending what is live there; workers
--- make the others. Again goes on with it, and so does it for a scope below. totals: what the cancel of this very scope has
--- ended, by name; stays: what is left of the run.
--- @request write
--- @args scopeId
--- @reply totals stays isDone
--- @include lib/call lib/cancels lib/clock lib/refuse lib/stays lib/timer lib/unit scope/_cancelling scope/_scope
--- So that with what a group decides beside it is never more than 500.
local maxRecords = 250
local path = scope.path(scopeId) or refuse('SCOPE_NOT_FOUND')

local before = unit.changes()
local cancel = scope.cancelOf(path) or cancelling.start(scopeId)
local _, isDone = cancelling.step(cancel.id, maxRecords)
if not isDone then timer.armInBackground('scope:cancel', cancel.id, now) end
local record, totals, left = scope.load(scopeId), {}, {}
for name, kind in pairs(cancels) do totals[#totals + 1] = { name, record[kind.total] } end
for name, counter in pairs(stays) do left[#left + 1] = { name, record[counter] } end
return call.answer({ totals = totals, stays = left, isDone = isDone and 1 or 0 }, unit.changes() > before and 'operation')
