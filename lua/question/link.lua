--- Makes another link to the page of an OPEN question; earlier links stay valid. linkToken, linkDigest: the token of
--- the link, and the token's digest.
--- @request write
--- @args questionId linkToken linkDigest
--- @reply linkToken
--- @include lib/call lib/plan lib/refuse question/_question question/_standing
-- The most links of a question. Each is found by its own token.
local maxLinks = 100
local record = question.read(questionId)
question.needOpen(record)
plan.needOperation()
local _, spaces = string.gsub(record.links or '', ' ', '')
if spaces + 1 >= maxLinks then refuse('LINKS_FULL', maxLinks) end

question.link(record, linkDigest)
return call.answer({ linkToken = linkToken }, 'operation')
