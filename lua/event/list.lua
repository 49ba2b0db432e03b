--- A page of the journal after `cursor`: a stream id, '' for the oldest entry kept, `latest` for new entries only. Refuses
--- if entries after the cursor have been lost. last: the cursor of the next page; epoch: the journal's generation.
--- @args cursor epoch limit
--- @reply last epoch entries
--- @include "lib/call"
local trimmedThrough = call.read('trimmedThrough') or '0-0'
local current = maps.get(keys.org(), 'epoch')

--- Whether the entry at the cursor lies before the last one that was trimmed.
local function isTrimmed()
  local ms, sequence = string.match(cursor, '^(%d+)-(%d+)$')
  local lastMs, last = string.match(trimmedThrough, '^(%d+)-(%d+)$')
  if ms ~= lastMs then return tonumber(ms) < tonumber(lastMs) end
  return #sequence < #last or #sequence == #last and sequence < last
end

if cursor == 'latest' then
  local last = redis.call('XREVRANGE', keys.events(), '+', '-', 'COUNT', 1)[1]
  return call.answer({ last = last and last[1] or trimmedThrough, epoch = current, entries = {} })
end
if cursor == '' then cursor = trimmedThrough elseif epoch ~= current then refuse('CURSOR_EXPIRED', 'restored') end
limit = tonumber(limit)
local entries
if cursor == trimmedThrough then
  entries = redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', limit)
else
  -- A cursor is the last entry its reader has seen. If that entry is gone, others may be: trimmed, or lost in a failover,
  -- after which earlier ids may be used again.
  entries = redis.call('XRANGE', keys.events(), cursor, '+', 'COUNT', limit + 1)
  if not entries[1] or entries[1][1] ~= cursor then refuse('CURSOR_EXPIRED', isTrimmed() and 'old' or 'lost') end
  table.remove(entries, 1)
end
local last = entries[#entries]
return call.answer({ last = last and last[1] or cursor, epoch = current, entries = entries })
