--- The spaces visible to the API key, newest first. The cursor is a space's number.
--- @request org
--- @args limit cursor
--- @reply nextCursor spaces:visibleSpace[]
--- @include lib/call lib/caller lib/sorted space/_space
limit = tonumber(limit)
local numbers, only = {}, caller.spaces()
if only == '' then
  local before = cursor == '' and '+inf' or '(' .. cursor
  numbers = redis.call('ZRANGE', keys.spaces(), before, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, limit + 1, 'WITHSCORES')
else
  local ids = {}
  for id in string.gmatch(only, '[^,]+') do ids[#ids + 1] = id end
  local found = {}
  for i, number in ipairs(sorted.scores(keys.spaces(), ids)) do
    if number and (cursor == '' or tonumber(number) < tonumber(cursor)) then found[#found + 1] = { ids[i], number } end
  end
  table.sort(found, function(a, b) return tonumber(a[2]) > tonumber(b[2]) end)
  for i = 1, math.min(#found, limit + 1) do numbers[2 * i - 1], numbers[2 * i] = found[i][1], found[i][2] end
end
local spaces = {}
for i = 1, math.min(#numbers, 2 * limit), 2 do
  spaces[#spaces + 1] = space.read(numbers[i])
end
return call.answer({ nextCursor = numbers[2 * limit + 1] and numbers[2 * limit], spaces = spaces })
