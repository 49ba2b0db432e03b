--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/timer"
--- @include "lib/usage"
--- @include "lib/rates"
--- What the organization's plan grants and what is in use of it (contract section 4), read once in a run.
local plan = {}
--- The organization's record; what its plan grants, nil where it sets no limit. hardStop: of the month's operations.
local org, hardStop, tasks, agents
local fields = { 'nextDue', 'unlimited', 'usedOperations', 'usedTasks', 'usedAgents' }
local limits = { 'rpm', 'requestsMinute', 'usedRequests', 'usedRecovery', 'plan', 'operations', 'operationsMonth', 'tasks', 'agents' }

function plan.begin()
  org = nil
end

--- `unlimited` says that the plan sets no limit of those that calls look at, so that they need not be read.
function plan.read()
  if org then return end
  org = records.read(keys.org(), fields)
  timer.nextDue = tonumber(org.nextDue) or math.huge
  hardStop, tasks, agents = nil, nil, nil
  if org.unlimited == '1' then
    rates.ofOrg()
    return
  end
  local read = redis.call('HMGET', keys.org(), unpack(limits))
  for i, name in ipairs(limits) do org[name] = read[i] end
  rates.ofOrg(org, org.rpm)
  hardStop = org.plan == 'free' and tonumber(org.operations)
  tasks, agents = tonumber(org.tasks), tonumber(org.agents)
end

--- Free plan only: refuses new work once the month's operations are used up. Never called by recovery calls.
function plan.needOperation()
  if hardStop and org.operationsMonth == usage.month() and tonumber(org.usedOperations or 0) >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

--- Refuses one more active task (or claim) than the plan grants.
function plan.needTask()
  if tasks and tonumber(org.usedTasks or 0) >= tasks then refuse('ACTIVE_TASKS_LIMITED', tasks) end
end

function plan.needAgent()
  if agents and tonumber(org.usedAgents or 0) >= agents then refuse('CONCURRENCY_LIMITED', agents) end
end
