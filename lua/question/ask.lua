--- Asks a question under a claim and ends the claim: the message is BLOCKED until the answer, and its attempt is taken
--- back. text: the question, as JSON; options: lines, '' for none; fails '1': the message fails if the question
--- expires; yieldsKey '1': the place of the message's key passes on; progress: as for a renewal. linkToken, linkDigest:
--- the token of the link to its page, and the token's digest.
--- @request write
--- @args messageId token options expiresInSeconds fails yieldsKey linkToken linkDigest tail
--- @long text progress
--- @reply question:question linkToken
--- @include lib/call lib/clock lib/id lib/records lib/refuse lib/sorted lib/volume mailbox/_claim mailbox/_keyed
--- @include mailbox/_message mailbox/_others mailbox/_return question/_question
-- The most questions of one message. More would be too much for people to answer.
local maxQuestions = 100
local record = message.read(messageId)
checkClaim(record, token)
local outcome = record.groupId and members.decided(record)
if outcome then refuse('GROUP_DECIDED', outcome .. ' claim') end
if #text > 4096 then refuse('PAYLOAD_TOO_LARGE', 'question 4096') end
if #progress > 4096 then refuse('PAYLOAD_TOO_LARGE', 'progress 4096') end
if sorted.count(keys.messageQuestions(messageId)) >= maxQuestions then refuse('QUESTIONS_FULL', maxQuestions) end
volume.need(#text + #progress)
if yieldsKey == '1' then keyed.needOrder(record, now) end

local opened = { id = newId(tail), scopeId = record.scopeId, messageId = messageId, mailboxId = record.mailboxId,
  holder = message.load(messageId, 'holder').holder, question = text, options = options ~= '' and options,
  expiresAt = now + expiresInSeconds * 1000, fails = fails == '1' }
question.open(opened)
question.link(opened, linkDigest)
if progress ~= '' then message.keep(record, 'progress', progress) end
aside.put(record, 'ASKED', 'QUESTION ' .. opened.id, yieldsKey == '1')
records.set(record, 'questionId', opened.id)
return call.answer({ question = opened, linkToken = linkToken }, 'operation')
