--- @export capacity
--- @space maxBacklog maxPayloadBytes maxArmedTimers messages:READY messages:CLAIMED messages:DELAYED timers:ARMED retainedBytes
--- @include lib/clock lib/count lib/plan lib/refuse lib/space mailbox/_mailbox
--- Checks whether a mailbox, its space and the plan can take one more message.
local capacity = {}

--- Checks the moments of a new message, given as text. Returns its deadline and when it becomes READY, nil where absent.
function capacity.moments(deadline, delaySeconds)
  deadline, delaySeconds = tonumber(deadline), tonumber(delaySeconds) or 0
  local readyAt = delaySeconds > 0 and now + 1000 * delaySeconds or nil
  if deadline and deadline <= now then refuse('VALIDATION_FAILED', 'deadline must be in the future') end
  if deadline and readyAt and readyAt >= deadline then
    refuse('VALIDATION_FAILED', 'delaySeconds must end before the deadline')
  end
  return deadline, readyAt
end

function capacity.forPayload(field, payload)
  local limit = keyspace.record.maxPayloadBytes
  if #payload > tonumber(limit) then refuse('PAYLOAD_TOO_LARGE', field .. ' ' .. limit) end
end

function capacity.isTooLarge(payload)
  return #payload > tonumber(keyspace.record.maxPayloadBytes)
end

--- The first limit that one more message with this many timers would exceed, as error code and detail; nil if there is
--- capacity. isTask: whether it counts as an active task of the plan.
function capacity.lack(box, timers, isTask)
  local space, of = keyspace.record, count.ofSpace
  local anyBlocked = mailbox.anyBlocked()
  local unfinished = box.ready + box.delayed + box.claimed
  if anyBlocked then unfinished = mailbox.backlog(box) end
  if unfinished >= box.backlogLimit then return 'BACKLOG_FULL', 'mailbox ' .. box.backlogLimit end
  local queued = count.ofSpaceTogether(space, 'messages:READY', 'messages:CLAIMED', 'messages:DELAYED')
  if anyBlocked then queued = queued + count.read('messages:BLOCKED') end
  if queued >= tonumber(space.maxBacklog) then return 'BACKLOG_FULL', 'space ' .. space.maxBacklog end
  if timers > 0 and of(space, 'timers:ARMED') + timers > tonumber(space.maxArmedTimers) then
    return 'TIMERS_FULL', space.maxArmedTimers
  end
  local tasks = isTask and plan.tasksInUse()
  if tasks then return 'ACTIVE_TASKS_LIMITED', tasks end
end

--- Refuses a message that exceeds a limit.
function capacity.forMessage(box, timers, isTask)
  local code, detail = capacity.lack(box, timers, isTask)
  if code == 'BACKLOG_FULL' then refuse('BACKLOG_FULL', detail) end
  if code == 'TIMERS_FULL' then refuse('TIMERS_FULL', detail) end
  if code then refuse('ACTIVE_TASKS_LIMITED', detail) end
end
