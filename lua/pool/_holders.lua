--- @export holders
--- @include lib/sorted scope/_scope
--- Holders and the holds they wait for. A holder is a run, a name and a session. Holds without a session cannot be told
--- apart.
local holders = {}

--- The holder of a hold as text; nil if it has no session. None of the parts contains a tab.
function holders.of(record)
  if not record.holderSession then return nil end
  local path = scope.path(record.scopeId)
  return (path and path[1] or record.scopeId) .. ' ' .. record.holder .. '\t' .. record.holderSession
end

local function member(record)
  local holder = holders.of(record)
  return holder and holder .. '\t' .. record.id
end

function holders.add(record)
  local entry = member(record)
  if entry then sorted.add(keys.waitingHolders(), '0', entry) end
end

function holders.remove(record)
  local entry = member(record)
  if entry then sorted.remove(keys.waitingHolders(), entry) end
end

--- The ids of at most `maxHolds` holds that a holder waits for.
function holders.waits(holder, maxHolds)
  local entries = sorted.byName(keys.waitingHolders(), holder .. '\t', '', maxHolds)
  for i, entry in ipairs(entries) do entries[i] = string.sub(entry, -36) end
  return entries
end
