--- @include lib/count lib/invocation lib/rates lib/records lib/refuse lib/timer lib/usage
--- @export plan
--- The limits of the organization's plan and their current use, read once per invocation. retainedBytes: the most that
--- one space may keep; nil for unlimited.
local plan = {}
--- The organization's record; then the plan's limits, nil for unlimited. hardStop: the month's operations if the plan
--- refuses more.
local org, hardStop, tasks, agents

--- Reads the organization's record. `unlimited` means that no limit that calls check is set, so the limits are not
--- read.
function plan.read()
  if invocation.hasPlan then return end
  invocation.hasPlan = true
  local key = keys.org()
  local read = redis.call('HMGET', key, 'nextDue', 'unlimited', 'usedOperations', 'usedTasks', 'usedAgents')
  org = { changed = false, hashKey = key, nextDue = read[1], usedOperations = read[3], usedTasks = read[4],
    usedAgents = read[5] }
  records.keep(org)
  timer.start(read[1])
  hardStop, tasks, agents, plan.retainedBytes = nil, nil, nil, nil
  if read[2] == '1' then
    rates.ofOrg()
    return
  end
  local limits = redis.call('HMGET', key, 'rpm', 'requestsMinute', 'usedRequests', 'usedRecovery', 'plan', 'operations',
    'operationsMonth', 'tasks', 'agents', 'retainedBytes')
  org.requestsMinute, org.usedRequests, org.usedRecovery = limits[2], limits[3], limits[4]
  rates.ofOrg(org, limits[1])
  hardStop, org.operationsMonth = limits[5] == 'free' and tonumber(limits[6]), limits[7]
  tasks, agents, plan.retainedBytes = tonumber(limits[8]), tonumber(limits[9]), tonumber(limits[10])
end

--- Whether an operation is left this month, after `more` that this request has yet to count. Only the free plan has
--- that limit.
function plan.hasOperation(more)
  return not hardStop or org.operationsMonth ~= usage.month() or count.ofOrg(org, 'usedOperations') + more < hardStop
end

--- Refuses new work when no operation is left. Not for recovery calls.
function plan.needOperation()
  if not plan.hasOperation(0) then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

--- The plan's limit of active tasks if it is reached; else false or nil.
function plan.tasksInUse()
  return tasks and count.ofOrg(org, 'usedTasks') >= tasks and tasks
end

function plan.hasAgent()
  return not agents or count.ofOrg(org, 'usedAgents') < agents
end

function plan.needAgent()
  if not plan.hasAgent() then refuse('CONCURRENCY_LIMITED', agents) end
end
