--- Sends one message. deadline: epoch milliseconds; delaySeconds, maxAttempts: numbers; prerequisites: as mailbox/_after keeps
--- them; '' where absent.
--- @request write
--- @args mailboxId scopeId workKey deadline delaySeconds maxAttempts prerequisites tail
--- @reply id state known
--- @long payload
--- @gather
--- @include lib/call lib/id lib/maps lib/plan lib/refuse mailbox/_create mailbox/_mailbox mailbox/_message
--- @include mailbox/_after mailbox/_capacity scope/_scope
local box = mailbox.read(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
if workKey ~= '' then
  local first = maps.get(keys.workKeys(mailboxId), workKey)
  if first then return call.answer({ id = first, state = message.stateNow(message.load(first, 'state', 'readyAt')), known = 1 }, 'syscall') end
end
local deadlineAt, readyAt = capacity.moments(deadline, delaySeconds)
local path = scope.path(scopeId)
scope.needRunning(path)
local kept, places
if prerequisites ~= '' then kept, places = after.need(prerequisites) end
local isBlocked = places and places[1]
plan.needOperation()
capacity.forPayload('payload', payload)
local isWork = box.mode == 'WORK'
capacity.forMessage(box, (deadlineAt and 1 or 0) + (readyAt and not isBlocked and 1 or 0), isWork)
scope.check(path)

local id = newId(tail)
message.create({ id = id, mailboxId = mailboxId, scopeId = scopeId, state = false, payload = payload, taskId = isWork and id,
  workKey = workKey ~= '' and workKey, deadline = deadlineAt, maxAttempts = tonumber(maxAttempts), readyAt = readyAt,
  prerequisites = kept }, path, box, places)
return call.answer({ id = id, state = isBlocked and 'BLOCKED' or readyAt and 'DELAYED' or 'READY' }, 'operation')
