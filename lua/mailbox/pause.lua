--- Pauses a mailbox, or resumes it (isPaused '0'). Repeating it changes nothing.
--- @request write
--- @args mailboxId isPaused
--- @reply mailbox:mailbox
--- @include lib/audit lib/call lib/caller lib/journal lib/records lib/refuse mailbox/_mailbox mailbox/_view
--- @include scope/_pausing
local box = mailbox.view(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
if box.paused == (isPaused == '1') then return call.answer({ mailbox = box }) end

records.set(box, 'paused', isPaused == '1')
pausing.add(box.paused and 1 or -1)
pausing.changed()
if box.paused then
  emit.mailbox.paused(mailboxId, box)
else
  emit.mailbox.resumed(mailboxId, box)
  journal.wake(mailboxId .. '/')
end
audit(box.paused and 'mailbox.paused' or 'mailbox.resumed', caller.actor(), mailboxId, inSpace())
return call.answer({ mailbox = box }, 'operation')
