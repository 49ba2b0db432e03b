--- @export skip
--- @include lib/invocation mailbox/_cancel mailbox/_finish mailbox/_message mailbox/_ready scope/_scope
--- Ends messages of a cancelled run that a receive meets at the head of its queue.
local skip = {}
--- For all receives of an invocation together. Ten take Redis about a millisecond.
local maxSkips = 100

--- Ends this message and the messages of cancelled runs that follow it, as many as this invocation still may.
function skip.cancelled(mailboxId, scopeId, messageId)
  local met = message.read(messageId)
  message.stop(met, scope.cancelFor(met))
  while (invocation.skipped or 0) < maxSkips do
    local member = ready.first(mailboxId, scopeId)
    local record = member and message.read(string.sub(member, -36))
    local cancel = record and scope.cancelFor(record)
    if not cancel then return end
    local before = message.finishes
    message.stop(record, cancel)
    invocation.skipped = (invocation.skipped or 0) + message.finishes - before
  end
end
