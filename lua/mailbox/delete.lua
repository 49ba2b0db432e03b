--- Deletes a mailbox that has no live message and delivers no tasks of an undecided group. Its finished messages are
--- kept until retention removes them.
--- @request write
--- @args mailboxId
--- @reply
--- @include lib/audit lib/call lib/caller lib/plan lib/refuse lib/sorted lib/unit mailbox/_attemptLimit
--- @include mailbox/_errors mailbox/_mailbox mailbox/_reports mailbox/_view scope/_pausing
local box = mailbox.load(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
local live = mailbox.backlog(box)
if live > 0 then refuse('MAILBOX_NOT_EMPTY', live .. ' messages') end
if box.undecidedGroups > 0 then refuse('MAILBOX_NOT_EMPTY', box.undecidedGroups .. ' groups') end
plan.needOperation()

if box.paused then pausing.add(-1) end
if box.progressEvents then reports.count(-1) end
if box.attemptSeconds then attemptLimit.count(-1) end
unit.delete(keys.mailbox(mailboxId), keys.mailboxFigures(mailboxId), unpack(failures.keys(mailboxId)))
sorted.remove(keys.mailboxes(), mailboxId)
names.remove(box.name, mailboxId)
emit.mailbox.deleted(mailboxId, box)
audit('mailbox.deleted', caller.actor(), mailboxId, inSpace())
journal.wake(mailboxId .. '/')
return call.answer(nil, 'operation')
