--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/plan"
--- @include "lib/usage"
--- @include "mailbox/_message"
--- Refuses one more live message in the mailbox where a send would be refused it; where `isSoft`, returns true instead.
--- The script has asked call.open for the space's limits and counters.
function message.needRoom(record, box, isSoft)
  local space = usage.space
  local full, timersFull, tasksFull
  if box.ready + box.claimed >= box.backlogLimit then full = 'mailbox ' .. box.backlogLimit end
  local queued = count.ofSpace(space, 'messages:READY') + count.ofSpace(space, 'messages:CLAIMED')
  if not full and queued >= tonumber(space.maxBacklog) then full = 'space ' .. space.maxBacklog end
  local isArmed = record.deadline and record.deadline > now
  if isArmed and tonumber(count.ofSpace(space, 'timers:ARMED')) >= tonumber(space.maxArmedTimers) then
    timersFull = space.maxArmedTimers
  end
  if record.taskId then tasksFull = plan.tasksInUse() end
  if isSoft then return full or timersFull or tasksFull end
  if full then refuse('BACKLOG_FULL', full) end
  if timersFull then refuse('TIMERS_FULL', timersFull) end
  if tasksFull then refuse('ACTIVE_TASKS_LIMITED', tasksFull) end
end
