--- @export oldest
--- @include lib/sorted mailbox/_ready
--- When the oldest message of a mailbox became ready. For a space see mailbox/_gauges.
local oldest = {}
local highestPriority = 9

--- When the oldest message of one queue became ready. It may be the first message of any priority.
local function ofQueue(key)
  local first = tonumber(select(2, sorted.first(key)))
  if not first or first >= 0 then return first end
  local least = math.huge
  for priority = 0, highestPriority do
    local from, to = ready.leastScore(priority), priority == 0 and '+inf' or '(' .. ready.leastScore(priority - 1)
    local score = tonumber(sorted.byScore(key, from, to, 1)[2])
    if score then least = math.min(least, select(2, ready.read(score))) end
  end
  return least
end

--- The least value that `momentOf` returns for the first `maxMembers` members of a set of heads, or false. A member's
--- score is never later than its value, so the search ends at a score later than the least value so far.
function oldest.among(key, maxMembers, momentOf)
  local heads, first = sorted.front(key, maxMembers), math.huge
  for i = 1, #heads, 2 do
    if tonumber(heads[i + 1]) > first then break end
    first = math.min(first, momentOf(heads[i]) or first)
  end
  return first < math.huge and first
end

--- When a mailbox's oldest READY message became ready, or false. Exact if at most `maxRoots` root scopes have an
--- earlier time in keys.heads(mailboxId).
function oldest.readyOf(mailboxId, maxRoots)
  return oldest.among(keys.heads(mailboxId), maxRoots, function(rootId) return ofQueue(keys.ready(mailboxId, rootId)) end)
end
