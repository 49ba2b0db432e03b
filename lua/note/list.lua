--- The notes of a scope whose keys begin with `prefix`, sorted by key; with values if `values` is true. A page ends
--- before its values exceed 4 MiB.
--- @request read
--- @args scopeId prefix values limit cursor
--- @reply nextCursor notes:listedNote[]
--- @include lib/call lib/page note/_note
local maxBytes = 4194304
limit = tonumber(limit)
-- UTF-8 has no byte FF, so this sorts after every key with the prefix. Keys sort by bytes, which is the order of code
-- points.
local from, to = '[' .. prefix, prefix == '' and '+' or '(' .. prefix .. '\255'
if cursor ~= '' then from = '(' .. cursor end
local page, last = cutPage(redis.call('ZRANGE', keys.notes(scopeId), from, to, 'BYLEX', 'LIMIT', 0, limit + 1), limit)
if not page[1] then return call.answer({ nextCursor = false, notes = {} }) end

--- The texts of the notes on the page, by the first character of their fields.
local function textsOf(kind)
  local fields = {}
  for i, key in ipairs(page) do fields[i] = kind .. key end
  return redis.call('HMGET', keys.noteTexts(scopeId), unpack(fields))
end

local found, bytes = {}, 0
for i, text in ipairs(textsOf('#')) do
  local record = note.parsed(scopeId, page[i], text)
  bytes = bytes + (values == 'true' and record.bytes or 0)
  if bytes > maxBytes then
    last = page[i - 1]
    for rest = #page, i, -1 do page[rest] = nil end
    break
  end
  found[i] = record
end
if values == 'true' then
  for i, value in ipairs(textsOf('=')) do found[i].value = value end
end
return call.answer({ nextCursor = last, notes = found })
