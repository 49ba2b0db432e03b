--- @include lib/cancels lib/clock lib/page mailbox/_finish mailbox/_message scope/_ending

--- Ends a live message of a cancelled run. If its deadline came before the cancel, it is EXPIRED, with `cause` (nil: the
--- current request).
function message.stop(record, cancel, cause)
  local deadline = record.deadline
  if deadline and deadline <= cancel.cancelledAt then
    message.finish(record, 'EXPIRED', deadline, emit.message.expired, 'DEADLINE_EXCEEDED', cause)
  else
    message.finish(record, 'CANCELLED', now, emit.message.cancelled, 'RUN_CANCELLED', ending.count(cancel, 'cancelledMessages'))
  end
end

cancels.messages = { total = 'cancelledMessages', isLive = true }

function cancels.messages.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeMessages(scopeId), last, maxRecords)
end

--- Returns the number of messages finished: stopping one may decide a group elsewhere, which cancels that group's waiting
--- members.
function cancels.messages.stop(id, cancel)
  -- Packed messages are never live.
  local found = message.stored(id, 'state')
  if not found or not message.isLive(found) then return 0 end
  local before = message.finishes
  message.stop(message.read(id), cancel)
  return message.finishes - before
end
