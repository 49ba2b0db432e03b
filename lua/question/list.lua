--- Lists questions, newest first, by states (`,A,B,`), scope subtree and message ('' for all). A page looks at no more
--- than 1,000 records and 4 MiB, so it may be short although more follow. The cursor is the last id looked at.
--- @request read
--- @args limit cursor states scopeId messageId
--- @reply nextCursor questions:question[]
--- @include lib/call lib/page mailbox/_others question/_question scope/_scope
limit = tonumber(limit)
local key = messageId ~= '' and keys.messageQuestions(messageId) or states == ',OPEN,' and keys.openQuestions()
  or keys.questions()
local isFiltered = states ~= '' or scopeId ~= ''
local maxLooks = isFiltered and 1000 or limit

local function isWanted(record)
  return among(record.state, states) and scope.isWithin(record.scopeId, scopeId)
end

local function wanted(id)
  if isFiltered and not isWanted(question.load(id, 'state', 'scopeId')) then return nil end
  local record = question.view(id)
  if question.isVisible(record) then return record, asked.bytes(record) end
end

local questions, nextCursor = sift(idsBefore(key, cursor, maxLooks + 1), limit, maxLooks, wanted)
return call.answer({ nextCursor = nextCursor, questions = questions })
