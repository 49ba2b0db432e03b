--- Lists holds, newest first, by states (`,A,B,`), pool, scope subtree and holder ('' for all). A filtered page looks
--- at no more than 1,000 records, so it may be short although more follow. The cursor is the last id looked at.
--- @request read
--- @args limit cursor states poolId scopeId holder
--- @reply nextCursor holds:hold[]
--- @include lib/call lib/page pool/_hold scope/_scope
limit = tonumber(limit)
local isFiltered = states ~= '' or scopeId ~= '' or holder ~= ''
local maxLooks = isFiltered and 1000 or limit
local key = poolId ~= '' and keys.poolHolds(poolId) or keys.holds()

local function isWanted(record)
  return among(record.state, states) and (holder == '' or record.holder == holder)
    and scope.isWithin(record.scopeId, scopeId)
end

local function wanted(id)
  if not isFiltered or isWanted(hold.load(id, 'state', 'scopeId', 'holder')) then return hold.shown(hold.view(id)) end
end

local holds, nextCursor = sift(idsBefore(key, cursor, maxLooks + 1), limit, maxLooks, wanted)
return call.answer({ nextCursor = nextCursor, holds = holds })
