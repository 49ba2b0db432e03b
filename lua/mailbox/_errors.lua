--- @export failures
--- @include lib/cut lib/sorted
--- How often attempts failed with which error, per mailbox and UTC day. The sets of seven days are used in turn. The
--- member '' has the day that a set is of, as a score below 0. The other members are errors without ids and numbers,
--- with their count and when they came last, in seconds of the day, as one number, so that a failure takes one write.
---
--- A set has 100 errors. Another one replaces the rarest, and goes on with its count: so the counts of a day add up to
--- its failures, and frequent errors are found whenever they begin (Metwally et al., Space-Saving).
local failures = {}
local maxErrors, maxLength, maxRead = 100, 200, 400
local daysKept, dayMs = 7, 86400000
local countUnit = 131072

--- The key of a day's set.
local function keyOf(mailboxId, day)
  return keys.mailboxErrors(mailboxId, string.format('%d', day % daysKept))
end

--- An error without the parts that differ between messages: ids, numbers and line breaks.
function failures.textOf(reported)
  local text = string.gsub(string.sub(reported, 1, maxRead), '%s+', ' ')
  if string.find(text, '%d') then
    text = string.gsub(text, string.rep('%x', 8) .. string.rep('%-%x%x%x%x', 3) .. '%-' .. string.rep('%x', 12), '…')
    text = string.gsub(text, '%f[%w]0[xX]%x+', '…')
    text = string.gsub(text, '%f[%w]%x*%d%x*%f[^%w]', function(word) return #word >= 6 and '…' or word end)
    text = string.gsub(text, '%d[%d.,:]*%d', '…')
    text = string.gsub(text, '%d', '…')
    -- What is quoted and has such a part is an id as a whole.
    text = string.gsub(text, '(["\'`])[^%s"\'`]*…[^%s"\'`]*%1', '%1…%1')
  end
  return beginningOf(text, maxLength)
end

--- Counts an attempt that failed at `at`. text: from failures.textOf.
function failures.count(mailboxId, at, text)
  local day = math.floor(at / dayMs)
  local key, mark = keyOf(mailboxId, day), string.format('%d', -day)
  local storedMark, score = unpack(sorted.scores(key, { '', text }))
  if storedMark ~= mark then
    if storedMark then
      for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do sorted.remove(key, member) end
      score = false
    end
    sorted.add(key, mark, '')
  end
  local known = math.floor((score or 0) / countUnit)
  -- The first member is the day.
  if known == 0 and sorted.count(key) > maxErrors then
    local _, _, rarest, itsScore = unpack(sorted.front(key, 2))
    sorted.remove(key, rarest)
    known = math.floor(itsScore / countUnit)
  end
  sorted.add(key, string.format('%d', (known + 1) * countUnit + math.floor(at % dayMs / 1000)), text)
end

--- At most `limit` errors of a day, the most frequent first.
function failures.of(mailboxId, day, limit)
  local key, list = keyOf(mailboxId, day), {}
  if tonumber(redis.call('ZSCORE', key, '') or 0) ~= -day then return list end
  local found = redis.call('ZRANGE', key, '+inf', '0', 'BYSCORE', 'REV', 'LIMIT', 0, limit, 'WITHSCORES')
  for i = 1, #found, 2 do
    local score = tonumber(found[i + 1])
    list[#list + 1] = { error = found[i], count = math.floor(score / countUnit),
      lastAt = day * dayMs + score % countUnit * 1000 }
  end
  return list
end

--- All keys of a mailbox.
function failures.keys(mailboxId)
  local list = {}
  for place = 0, daysKept - 1 do list[place + 1] = keyOf(mailboxId, place) end
  return list
end
