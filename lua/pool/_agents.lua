--- @export agents
--- @include lib/count org/_org
--- The plan's limit of concurrent agents, which counts the units of HELD holds like claims. Timers grant holds, too, so
--- the limit is read here and not by lib/plan.
local agents = {}

--- The plan's limit; nil if it has none.
function agents.limit()
  return tonumber(org.load('agents', 'usedAgents').agents)
end

--- Whether this many more fit.
function agents.fit(units)
  local limit = agents.limit()
  return not limit or count.ofOrg(org.load('agents', 'usedAgents'), 'usedAgents') + units <= limit
end
