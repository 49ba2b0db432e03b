--- Lists questions, newest first, of the states `,A,B,`, of a scope and those below it, and of a message ('' for all). A page
--- looks at no more than 1,000 records and 4 MiB, so it may be short though there are more; the cursor is the last id looked at.
--- @request read
--- @args limit cursor states scopeId messageId
--- @reply nextCursor questions:question[]
--- @include lib/call mailbox/_asked question/_question scope/_scope
limit = tonumber(limit)
local bytesLimit, bytes = 4194304, 0
local key = messageId ~= '' and keys.messageQuestions(messageId) or states == ',OPEN,' and keys.openQuestions() or keys.questions()
local isFiltered = states ~= '' or scopeId ~= ''
local scanLimit = isFiltered and 1000 or limit

local function isBelow(ofScope)
  for _, id in ipairs(scope.path(ofScope)) do
    if id == scopeId then return true end
  end
end

local function isWanted(record)
  return (states == '' or string.find(states, ',' .. record.state .. ',', 1, true))
    and (scopeId == '' or isBelow(record.scopeId))
end

local from = cursor == '' and '+' or '(' .. cursor
local ids = redis.call('ZRANGE', key, from, '-', 'BYLEX', 'REV', 'LIMIT', 0, scanLimit + 1)
local found, last, more = {}, false, false
for i, id in ipairs(ids) do
  if #found == limit or i > scanLimit or bytes > bytesLimit then
    more = true
    break
  end
  last = id
  if not isFiltered or isWanted(question.load(id, 'state', 'scopeId')) then
    local record = question.view(id)
    found[#found + 1], bytes = record, bytes + asked.bytes(record)
  end
end
return call.answer({ nextCursor = more and last, questions = found })
