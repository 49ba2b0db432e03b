--- Sends one message. deadline: epoch milliseconds; delaySeconds, maxAttempts, priority: numbers; prerequisites: see
--- mailbox/_after; required: see mailbox/_requires; traceparent, tracestate: W3C Trace Context; each '' if absent. The
--- reply has a scope only for a known message.
--- @request write
--- @args mailboxId scopeId workKey tail
--- @rare deadline delaySeconds maxAttempts priority key prerequisites required traceparent tracestate
--- @reply id state known scopeId?
--- @long payload
--- @gather
--- @include lib/call lib/id lib/maps lib/plan lib/refuse mailbox/_mailbox mailbox/_message mailbox/_send scope/_scope
local box = mailbox.read(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
if workKey ~= '' then
  local first = maps.get(keys.workKeys(mailboxId), workKey)
  if first then
    local record = message.load(first, 'state', 'readyAt', 'scopeId')
    return call.answer({ id = first, state = message.stateNow(record), known = 1, scopeId = record.scopeId }, 'syscall')
  end
end
local deadlineAt, readyAt = capacity.moments(deadline, delaySeconds)
local path = scope.path(scopeId)
scope.needRunning(path)
local options = message.options(priority, key, prerequisites, required, traceparent, tracestate)
plan.needOperation()
capacity.forPayload('payload', payload)
local isWork = box.mode == 'WORK'
capacity.forMessage(box, (deadlineAt and 1 or 0) + (readyAt and not message.willWait(options) and 1 or 0), isWork)
scope.check(path)

local id = newId(tail)
local sent = { id = id, mailboxId = mailboxId, scopeId = scopeId, state = false, payload = payload,
  taskId = isWork and id, workKey = workKey ~= '' and workKey, deadline = deadlineAt, maxAttempts =
    tonumber(maxAttempts), readyAt = readyAt }
message.create(sent, path, box, options)
return call.answer({ id = id, state = sent.state }, 'operation')
