--- Cancels a run: the scope and all below it count as cancelled from now on. Makes the first step of ending its live
--- records. Workers make the others; calling it again, for this scope or one below, also makes a step. totals: how many
--- records the cancel of this scope has ended, by name; stays: the records left in the run.
--- @request write
--- @args scopeId
--- @reply totals stays isDone
--- @include lib/audit lib/call lib/caller lib/clock lib/hooks lib/refuse lib/timer lib/unit scope/_cancelling
--- @include scope/_scope
-- Deciding a group ends its members as well, so a step may end 500 records.
local maxRecords = 250
local path = scope.path(scopeId) or refuse('SCOPE_NOT_FOUND')

local before = unit.changes()
local cancel = scope.cancelOf(path)
if not cancel then
  cancel = cancelling.start(scopeId)
  audit('scope.cancelled', caller.actor(), scopeId, inSpace())
end
local _, isDone = cancelling.step(cancel.id, maxRecords)
if not isDone then timer.armInBackground('scope:cancel', cancel.id, now) end
local record, totals, left = scope.load(scopeId), {}, {}
for name, kind in pairs(cancels) do totals[#totals + 1] = { name, record[kind.total] } end
for name, counter in pairs(keptByCancel) do left[#left + 1] = { name, record[counter] } end
return call.answer({ totals = totals, stays = left, isDone = isDone and 1 or 0 },
  unit.changes() > before and 'operation')
