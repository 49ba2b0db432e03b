--- @include lib/clock lib/records mailbox/_delay mailbox/_mailbox mailbox/_members mailbox/_message
--- @include mailbox/_dropClaim mailbox/_ready mailbox/_requires scope/_scope

--- Returns a CLAIMED message to its mailbox at the moment `at`, for another attempt after a pause (nil: the mailbox's
--- setting). If its group is decided, cancels it instead.
function message.release(record, at, pauseSeconds)
  if record.groupId and members.released(record, at) then return end
  if record.place then requires.give(record, at) end
  message.needTrace(record)
  local box = mailbox.read(record.mailboxId)
  records.set(box, 'claimed', box.claimed - 1)
  local readyAt = at + 1000 * (pauseSeconds or mailbox.pauseSeconds(record.mailboxId, record.attempts))
  if readyAt > now then
    -- The place shows when it began to wait (mailbox/_waits).
    records.set(record, 'place', ready.placeAt(at))
    delay.hold(record, box, readyAt)
  else
    message.become(record, 'READY')
    ready.put(record, scope.path(record.scopeId), box, readyAt)
  end
  message.dropClaim(record)
  emit.message.retried(record.id, record)
end
