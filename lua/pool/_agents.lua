--- @export agents
--- @include lib/count org/_org
--- The plan's figure of agents at once, which units of HELD holds count in as claims do. Holds are also granted by timers, so
--- it is read here and not by lib/plan.
local agents = {}

--- What the plan allows; nil if it has no limit.
function agents.limit()
  return tonumber(org.load('agents', 'usedAgents').agents)
end

--- Whether so many more fit.
function agents.fit(units)
  local limit = agents.limit()
  return not limit or count.ofOrg(org.load('agents', 'usedAgents'), 'usedAgents') + units <= limit
end
