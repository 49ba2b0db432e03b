--- @export attempts
--- @include lib/records mailbox/_message
--- The history of a message's attempts, for people who ask why it does not succeed. A message that is ACKED at its
--- first attempt keeps none, because its own fields show it all. Each attempt is a line of JSON, the oldest first:
--- `[attempt, holder, claimedAt, endedAt, outcome, error, progress]`, with false for an absent value.
local attempts = {}

--- The most attempts kept, and the most bytes of an error and of progress; all together below 10 KB.
local maxKept, maxError, maxProgress = 10, 300, 256

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
    reported and beginning(reported) or false, progress or false })
  local lines = { line }
  for kept in string.gmatch(record.pastAttempts or '', '[^\n]+') do table.insert(lines, #lines, kept) end
  if #lines > maxKept then table.remove(lines, 1) end
  records.set(record, 'pastAttempts', table.concat(lines, '\n'))
end
