--- @include "lib/call"
--- @include "mailbox/_mailbox"
--- What a mailbox, its space and the plan have room for: asked before a message is put into a mailbox.
local room = {}
--- The limits of the space and what is in use of them, of the request at hand.
local granted = {}

local function remember(replay, ...)
  granted = { ... }
  return replay
end

--- Opens a call (lib/call) that puts messages into mailboxes.
function room.open()
  return remember(call.open('maxBacklog', 'maxPayloadBytes', 'maxArmedTimers', 'messages:READY', 'messages:CLAIMED',
    'messages:DELAYED', 'timers:ARMED', 'retainedBytes'))
end

--- The moments of a new message, checked; nil where absent. Both come as text.
function room.moments(deadline, delaySeconds)
  deadline, delaySeconds = tonumber(deadline), tonumber(delaySeconds) or 0
  local readyAt = delaySeconds > 0 and now + 1000 * delaySeconds or nil
  if deadline and deadline <= now then refuse('VALIDATION_FAILED', 'deadline must lie in the future') end
  if deadline and readyAt and readyAt >= deadline then
    refuse('VALIDATION_FAILED', 'delaySeconds must end before the deadline')
  end
  return deadline, readyAt
end

function room.forPayload(field, payload)
  if #payload > tonumber(granted[2]) then refuse('PAYLOAD_TOO_LARGE', field .. ' ' .. granted[2]) end
end

--- Refuses one more message with so many timers. isTask: whether it is an active task of the plan.
function room.forMessage(box, timers, isTask)
  if mailbox.backlog(box) >= box.backlogLimit then refuse('BACKLOG_FULL', 'mailbox ' .. box.backlogLimit) end
  if granted[4] + granted[5] + (granted[6] or 0) >= tonumber(granted[1]) then refuse('BACKLOG_FULL', 'space ' .. granted[1]) end
  if timers > 0 and granted[7] + timers > tonumber(granted[3]) then refuse('TIMERS_FULL', granted[3]) end
  if isTask then plan.needTask() end
end
