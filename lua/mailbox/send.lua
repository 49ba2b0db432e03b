--- Sends a message. deadline: epoch milliseconds or ''.
--- @args mailboxId scopeId workKey deadline tail
--- @reply id state known
--- @long payload
--- @gather
--- @include "lib/call"
--- @include "lib/id"
--- @include "mailbox/_create"
local replay, maxBacklog, maxPayloadBytes, maxArmedTimers, queued, claimed, armed = call.open('maxBacklog', 'maxPayloadBytes',
  'maxArmedTimers', 'messages:READY', 'messages:CLAIMED', 'timers:ARMED', 'retainedBytes')
if replay then return replay end
local box = mailbox.read(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
if workKey ~= '' then
  local first = maps.get(keys.workKeys(mailboxId), workKey)
  if first then return call.uncounted({ id = first, state = message.load(first, 'state').state, known = 1 }) end
end
if deadline ~= '' and tonumber(deadline) <= now then refuse('VALIDATION_FAILED', 'deadline must lie in the future') end
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
if #payload > tonumber(maxPayloadBytes) then refuse('PAYLOAD_TOO_LARGE', 'payload ' .. maxPayloadBytes) end
if box.ready + box.claimed >= box.backlogLimit then refuse('BACKLOG_FULL', 'mailbox ' .. box.backlogLimit) end
if queued + claimed >= tonumber(maxBacklog) then refuse('BACKLOG_FULL', 'space ' .. maxBacklog) end
if deadline ~= '' and tonumber(armed) >= tonumber(maxArmedTimers) then refuse('TIMERS_FULL', maxArmedTimers) end
local isWork = box.mode == 'WORK'
if isWork then plan.needTask() end
scope.check(path)

local id = newId(tail)
message.create({ id = id, mailboxId = mailboxId, scopeId = scopeId, state = false, payload = payload, taskId = isWork and id,
  workKey = workKey ~= '' and workKey, deadline = tonumber(deadline) }, path, box)
return call.done({ id = id, state = 'READY' })
