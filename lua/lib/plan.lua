--- @include "lib/refuse"
--- @include "lib/records"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/usage"
--- @include "lib/rates"
--- The figures of the organization's plan and their current use, read once per run.
local plan = {}
--- The organization's record; the plan's figures, nil for unlimited. hardStop: the month's operations, if they block.
local org, hardStop, tasks, agents

function plan.begin()
  org = nil
end

--- Reads the organization's record. `unlimited` says that none of the figures that calls check has a limit, so they are not
--- read.
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

--- Refuses new work once the month's operations are used up, on the free plan only. Recovery calls never call it.
function plan.needOperation()
  if hardStop and org.operationsMonth == usage.month() and count.ofOrg(org, 'usedOperations') >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

--- Refuses one more active task than the plan allows.
function plan.needTask()
  if tasks and count.ofOrg(org, 'usedTasks') >= tasks then refuse('ACTIVE_TASKS_LIMITED', tasks) end
end

--- Refuses one more claim than the plan allows.
function plan.needAgent()
  if agents and count.ofOrg(org, 'usedAgents') >= agents then refuse('CONCURRENCY_LIMITED', agents) end
end
