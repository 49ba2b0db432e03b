--- Asks a question that blocks nothing. text: the question, as JSON; options: lines, '' for none. linkToken,
--- linkDigest: the token of the link to its page, and the token's digest.
--- @request write
--- @space maxArmedTimers timers:ARMED
--- @args scopeId holder options expiresInSeconds linkToken linkDigest tail
--- @long text
--- @reply question:question linkToken
--- @include lib/call lib/caller lib/clock lib/count lib/id lib/plan lib/refuse lib/space lib/volume
--- @include question/_question scope/_scope
if holder == '' then holder = caller.ownName() or '' end
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
if #text > 4096 then refuse('PAYLOAD_TOO_LARGE', 'question 4096') end
scope.check(path)
volume.need(#text)
local maxArmedTimers = tonumber(keyspace.record.maxArmedTimers)
if (count.ofSpace(keyspace.record, 'timers:ARMED') or 0) >= maxArmedTimers then
  refuse('TIMERS_FULL', maxArmedTimers)
end

if not path then scope.create(scopeId) end
local opened = { id = newId(tail), scopeId = scopeId, holder = holder ~= '' and holder, question = text,
  options = options ~= '' and options, expiresAt = now + expiresInSeconds * 1000 }
question.open(opened)
question.link(opened, linkDigest)
return call.answer({ question = opened, linkToken = linkToken }, 'operation')
