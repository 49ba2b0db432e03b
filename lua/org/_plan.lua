--- @export storePlan
--- @include lib/unit
--- Stores the plan's limits. `unlimited` means that calls need not read the limits they check: rate, active tasks,
--- claims, retained bytes and, on the free plan, operations.
local function storePlan(figures)
  local unlimited = figures.plan ~= 'free' and figures.rpm == 'unlimited' and figures.tasks == 'unlimited'
    and figures.agents == 'unlimited' and figures.retainedBytes == 'unlimited'
  local fields = { 'unlimited', unlimited and '1' or '0' }
  for name, value in pairs(figures) do fields[#fields + 1], fields[#fields + 2] = name, value end
  unit.command('HSET', keys.org(), unpack(fields))
end
