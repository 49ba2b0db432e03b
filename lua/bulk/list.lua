--- Lists bulk work, newest first, by states (`,A,B,`), mailbox and scope ('' for all). A page looks at 1,000 records at
--- most, so it may be short although more follow. The cursor is the last id looked at.
--- @request read
--- @args limit cursor states mailboxId scopeId
--- @reply nextCursor bulks:bulk[]
--- @include lib/call lib/page bulk/_bulk
limit = tonumber(limit)
local isFiltered = states ~= '' or mailboxId ~= '' or scopeId ~= ''
local maxLooks = isFiltered and 1000 or limit
local key = scopeId ~= '' and keys.scopeBulks(scopeId) or keys.bulks()

local function wanted(id)
  local record = bulk.load(id)
  return among(record.state, states) and (mailboxId == '' or record.mailboxId == mailboxId) and record or nil
end

local bulks, nextCursor = sift(idsBefore(key, cursor, maxLooks + 1), limit, maxLooks, wanted)
return call.answer({ nextCursor = nextCursor, bulks = bulks })
