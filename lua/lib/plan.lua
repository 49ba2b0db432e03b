--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/usage"
--- @include "lib/rates"
--- What the organization's plan grants and what is in use of it (contract section 4), read once in a run.
local plan = {}
--- The organization's record; what its plan grants, nil where it sets no limit. hardStop: of the month's operations.
local org, hardStop, tasks, agents

function plan.begin()
  org = nil
end

--- `unlimited` says that the plan sets no limit of those that calls look at, so that they need not be read.
function plan.read()
  if org then return end
  local key = keys.org()
  local read = redis.call('HMGET', key, 'nextDue', 'unlimited', 'usedOperations', 'usedTasks', 'usedAgents')
  org = { false, false, false, false, n = 0, key = key, nextDue = read[1], usedOperations = read[3], usedTasks = read[4],
    usedAgents = read[5] }
  records.keep(org)
  timer.nextDue = tonumber(read[1]) or math.huge
  hardStop, tasks, agents = nil, nil, nil
  if read[2] == '1' then
    rates.ofOrg()
    return
  end
  local limits = redis.call('HMGET', key, 'rpm', 'requestsMinute', 'usedRequests', 'usedRecovery', 'plan', 'operations',
    'operationsMonth', 'tasks', 'agents')
  org.requestsMinute, org.usedRequests, org.usedRecovery = limits[2], limits[3], limits[4]
  rates.ofOrg(org, limits[1])
  hardStop, org.operationsMonth = limits[5] == 'free' and tonumber(limits[6]), limits[7]
  tasks, agents = tonumber(limits[8]), tonumber(limits[9])
end

--- Free plan only: refuses new work once the month's operations are used up. Never called by recovery calls.
function plan.needOperation()
  if hardStop and org.operationsMonth == usage.month() and count.ofOrg(org, 'usedOperations') >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

--- What the plan grants of active tasks, where all of it is in use.
function plan.tasksInUse()
  return tasks and count.ofOrg(org, 'usedTasks') >= tasks and tasks
end

--- Refuses one more active task (or claim) than the plan grants.
function plan.needTask()
  local most = plan.tasksInUse()
  if most then refuse('ACTIVE_TASKS_LIMITED', most) end
end

function plan.needAgent()
  if agents and count.ofOrg(org, 'usedAgents') >= agents then refuse('CONCURRENCY_LIMITED', agents) end
end
