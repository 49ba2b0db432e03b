--- @export attempts
--- @include lib/records mailbox/_message
--- The history of a message's attempts, for people who ask why it does not succeed. A message that is ACKED at its
--- first attempt keeps none, because its own fields show it all. Each attempt is a line of JSON, the oldest first:
--- `[attempt, holder, claimedAt, endedAt, outcome, error, progress, token]`, with false for an absent value; of the token,
--- the beginning. Lines from before tokens were kept end earlier.
local attempts = {}

--- The most attempts kept, and the most bytes of an error and of progress; all together below 10 KB.
local maxKept, maxError, maxProgress = 10, 300, 256
local tokenLength = 8

--- The beginning of a text, cut at the end of a character.
local function beginning(text)
  if #text <= maxError then return text end
  return (string.gsub(string.sub(text, 1, maxError), '[\192-\255][\128-\191]*$', ''))
end

--- Keeps the current attempt of a CLAIMED message, which ended at `at`. Call it before the claim is dropped, and before
--- an attempt is taken back. reported: the error that its worker reported, or nil.
function attempts.keep(record, at, outcome, reported)
  message.load(record.id, 'holder', 'claimedAt', 'progress', 'pastAttempts')
  local progress = record.progress and #record.progress <= maxProgress and record.progress
  local line = cjson.encode({ record.attempts, record.holder, record.claimedAt, at, outcome,
    reported and beginning(reported) or false, progress or false, string.sub(record.token, 1, tokenLength) })
  local lines = { line }
  for kept in string.gmatch(record.pastAttempts or '', '[^\n]+') do table.insert(lines, #lines, kept) end
  if #lines > maxKept then table.remove(lines, 1) end
  records.set(record, 'pastAttempts', table.concat(lines, '\n'))
end

--- The outcome, the number and the end of the kept attempt that had this token; nil if there is none. Then also whether
--- all attempts are known, so that the token is none of this message's. record: with pastAttempts.
function attempts.find(record, token)
  local start, isComplete, lines = string.sub(token, 1, tokenLength), true, 0
  local how, number, at
  for line in string.gmatch(record.pastAttempts or '', '[^\n]+') do
    local attempt, _, _, endedAt, outcome, _, _, itsStart = unpack(cjson.decode(line))
    lines = lines + 1
    if itsStart == start then how, number, at = outcome, attempt, endedAt end
    if not itsStart then isComplete = false end
  end
  return how, number, at, isComplete and lines < maxKept
end
