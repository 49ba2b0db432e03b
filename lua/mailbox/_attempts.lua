--- @export attempts
--- @include lib/records mailbox/_message
--- What became of a message's attempts, for people who ask why it does not succeed. A message that is ACKED at its first attempt
--- keeps nothing: its own fields say all of it. Each attempt is a line of JSON:
--- `[attempt, holder, claimedAt, endedAt, outcome, error, progress]`, the oldest first; false where there is none.
local attempts = {}

--- The attempts that are kept, and the bytes of an error and of progress: all of it stays below 10 KB.
local maxKept, maxError, maxProgress = 10, 300, 256

--- The beginning of a text, which ends with a whole character.
local function beginning(text)
  if #text <= maxError then return text end
  return (string.gsub(string.sub(text, 1, maxError), '[\192-\255][\128-\191]*$', ''))
end

--- Keeps the attempt of a CLAIMED message that is over since `at`. Call it before the claim is dropped, and before an attempt is
--- taken back. reported: what its worker said, or nil.
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
