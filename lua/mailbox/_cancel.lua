--- @include "lib/cancels"
--- @include "scope/_ending"
--- @include "mailbox/_finish"
--- @include "mailbox/_packed"

--- Ends a live message of a cancelled run; one whose deadline came before the cancel is EXPIRED.
function message.stop(record, cancel)
  local deadline = record.deadline
  if deadline and deadline <= cancel.cancelledAt then
    message.finish(record, 'EXPIRED', deadline, emit.message.expired, 'DEADLINE_EXCEEDED')
  else
    ending.count(cancel, 'cancelledMessages', message.finish, record, 'CANCELLED', now, emit.message.cancelled, 'RUN_CANCELLED')
  end
end

cancels.messages = { total = 'cancelledMessages', isLive = true }

function cancels.messages.ids(scopeId, last, maxRecords)
  return newestIds(keys.scopeMessages(scopeId), last, maxRecords)
end

--- It may decide a group elsewhere, which cancels those of its members that wait.
function cancels.messages.stop(id, cancel)
  -- Of packed ones none is live.
  packed.isPassed = true
  local found = message.load(id, 'state')
  packed.isPassed = false
  if not found or not message.isLive(found) then return 0 end
  local before = message.finishes
  message.stop(message.read(id), cancel)
  return message.finishes - before
end
