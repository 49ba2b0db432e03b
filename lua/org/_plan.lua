--- @include "lib/unit"
--- @args plan operations agents spaces runs tasks apiKeys rpm retentionDays
--- Stores the plan's figures. `unlimited` says that calls need not read those they check: rate, active tasks, claims, and
--- on the free plan operations.
local function storePlan()
  local unlimited = plan ~= 'free' and rpm == 'unlimited' and tasks == 'unlimited' and agents == 'unlimited'
  unit.command('HSET', keys.org(), 'plan', plan, 'operations', operations, 'agents', agents, 'spaces', spaces, 'runs', runs,
    'tasks', tasks, 'keys', apiKeys, 'rpm', rpm, 'retentionDays', retentionDays, 'unlimited', unlimited and '1' or '0')
end
