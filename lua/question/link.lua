--- Makes another link to the page of an OPEN question; earlier ones go on. linkToken: of the link, and its digest.
--- @request write
--- @args questionId linkToken linkDigest
--- @reply linkToken
--- @include lib/call lib/plan lib/refuse question/_question question/_standing
--- The most links of a question: each of them is looked for by its own token.
local maxLinks = 100
local record = question.read(questionId)
question.needOpen(record)
plan.needOperation()
local _, spaces = string.gsub(record.links or '', ' ', '')
if spaces + 1 >= maxLinks then refuse('LINKS_FULL', maxLinks) end

question.link(record, linkDigest)
return call.answer({ linkToken = linkToken }, 'operation')
