--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/usage"
--- @include "lib/rates"
--- What the organization's plan grants and what is in use of it (contract section 4), read once in a run.
local plan = {}
local isRead
--- What it grants, nil where it sets no limit, and what is in use of it. hardStop: of the month's operations.
local hardStop, tasks, usedTasks, agents, usedAgents
local counters = { 'usedOperations', 'usedTasks', 'usedAgents' }

function plan.begin()
  isRead = false
end

--- `unlimited` says that the plan sets no limit of those that calls look at, so that they need not be read.
function plan.read()
  if isRead then return end
  local org = redis.call('HMGET', keys.org(), 'nextDue', 'unlimited', unpack(counters))
  isRead, timer.nextDue = true, tonumber(org[1]) or math.huge
  count.know('org', counters, org, 2)
  hardStop, tasks, agents = nil, nil, nil
  if org[2] == '1' then
    rates.ofOrg()
    return
  end
  local limits = redis.call('HMGET', keys.org(), 'rpm', 'requestsMinute', 'usedRequests', 'usedRecovery', 'plan', 'operations',
    'operationsMonth', 'tasks', 'agents')
  rates.ofOrg(limits[1], limits[2], limits[3], limits[4])
  hardStop = limits[5] == 'free' and tonumber(limits[6])
  usage.operations = hardStop and limits[7] == usage.month() and tonumber(org[3]) or 0
  tasks, agents = tonumber(limits[8]), tonumber(limits[9])
  usedTasks, usedAgents = tonumber(org[4]) or 0, tonumber(org[5]) or 0
end

--- Free plan only: refuses new work once the month's operations are used up. Never called by recovery calls.
function plan.needOperation()
  if hardStop and usage.operations >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

--- Refuses one more active task (or claim) than the plan grants.
function plan.needTask()
  if tasks and usedTasks + (count.org.usedTasks or 0) >= tasks then refuse('ACTIVE_TASKS_LIMITED', tasks) end
end

function plan.needAgent()
  if agents and usedAgents + (count.org.usedAgents or 0) >= agents then refuse('CONCURRENCY_LIMITED', agents) end
end
