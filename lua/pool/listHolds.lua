--- Lists holds, newest first, of the states `,A,B,`, of a pool, of a scope and those below it, and of a holder ('' for all). A
--- filtered page looks at no more than 1,000 records, so it may be short while there is more; the cursor is the last id
--- looked at.
--- @request read
--- @args limit cursor states poolId scopeId holder
--- @reply nextCursor holds:hold[]
--- @include lib/call pool/_hold scope/_scope
limit = tonumber(limit)
local isFiltered = states ~= '' or scopeId ~= '' or holder ~= ''
local scanLimit = isFiltered and 1000 or limit
local key = poolId ~= '' and keys.poolHolds(poolId) or keys.holds()

local function isBelow(ofScope)
  for _, id in ipairs(scope.path(ofScope)) do
    if id == scopeId then return true end
  end
end

local function isWanted(record)
  return (states == '' or string.find(states, ',' .. record.state .. ',', 1, true))
    and (holder == '' or record.holder == holder) and (scopeId == '' or isBelow(record.scopeId))
end

local from = cursor == '' and '+' or '(' .. cursor
local ids = redis.call('ZRANGE', key, from, '-', 'BYLEX', 'REV', 'LIMIT', 0, scanLimit + 1)
local found, last, more = {}, false, false
for i, id in ipairs(ids) do
  if #found == limit or i > scanLimit then
    more = true
    break
  end
  last = id
  if not isFiltered or isWanted(hold.load(id, 'state', 'scopeId', 'holder')) then found[#found + 1] = hold.shown(hold.view(id)) end
end
return call.answer({ nextCursor = more and last, holds = found })
