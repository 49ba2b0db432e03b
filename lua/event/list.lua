--- A page of the journal after `cursor` (a stream id; '' for the oldest kept, `latest` for from now on), or a refusal
--- when what followed the cursor is not all there any more. Replies with the cursor to go on from, the journal's
--- epoch, and the entries.
--- @args cursor epoch limit
--- @include "lib/call"
local trimmedThrough = call.read('trimmedThrough')
local current = redis.call('HGET', keys.org(), 'epoch')
if cursor == 'latest' then
  local last = redis.call('XREVRANGE', keys.events(), '+', '-', 'COUNT', 1)[1]
  return call.answer(last and last[1] or trimmedThrough or '0-0', current, {})
end
if cursor ~= '' then
  if epoch ~= current then refuse('CURSOR_EXPIRED') end
  if trimmedThrough then
    local ms, seq = string.match(cursor, '^(%d+)-(%d+)$')
    local trimmedMs, trimmedSeq = string.match(trimmedThrough, '^(%d+)-(%d+)$')
    ms, seq, trimmedMs, trimmedSeq = tonumber(ms), tonumber(seq), tonumber(trimmedMs), tonumber(trimmedSeq)
    if ms < trimmedMs or (ms == trimmedMs and seq < trimmedSeq) then refuse('CURSOR_EXPIRED') end
  end
end
local entries = redis.call('XRANGE', keys.events(), cursor == '' and '-' or '(' .. cursor, '+', 'COUNT', limit)
local last = entries[#entries]
return call.answer(last and last[1] or (cursor ~= '' and cursor) or trimmedThrough or '0-0', current, entries)
