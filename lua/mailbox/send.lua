--- Sends one message. The rare arguments: see mailbox/_options. The reply has a scope only for a known message.
--- @request write
--- @args mailboxId scopeId workKey tail
--- @reply id state known scopeId?
--- @long payload
--- @gather
--- @include lib/call lib/id lib/maps lib/plan lib/refuse lib/volume mailbox/_mailbox mailbox/_message
--- @include mailbox/_options mailbox/_send scope/_scope
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
local options = message.options(scopeId)
plan.needOperation()
capacity.forPayload('payload', payload)
local isWork = box.mode == 'WORK'
capacity.forMessage(box, (deadlineAt and 1 or 0) + (readyAt and not message.willWait(options) and 1 or 0), isWork)
volume.need(#payload)
scope.check(path)

local id = newId(tail)
local sent = { id = id, mailboxId = mailboxId, scopeId = scopeId, state = false, payload = payload,
  taskId = isWork and id, workKey = workKey ~= '' and workKey, deadline = deadlineAt, maxAttempts =
    tonumber(maxAttempts), readyAt = readyAt }
message.create(sent, path, box, options)
return call.answer({ id = id, state = sent.state }, 'operation')
