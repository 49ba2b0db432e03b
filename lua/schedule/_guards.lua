--- @include lib/caller lib/guards schedule/_schedule
--- For a caller limited to mailboxes.
function guards.scheduleId(scheduleId)
  local record = schedule.load(scheduleId, 'mailboxId')
  if record then caller.needMailbox(record.mailboxId) end
end
