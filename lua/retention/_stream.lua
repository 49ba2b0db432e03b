--- @include "lib/unit"
--- Trims the entries of a stream that lie at the moment `through` or before, at most `most`. Returns the id of the last
--- one, nil where there is none, and whether there may be more.
local function trimStream(stream, through, most)
  if through < 0 then return nil, false end
  local entries = redis.call('XRANGE', stream, '-', string.format('%d', through), 'COUNT', most)
  if not entries[1] then return nil, false end
  local last = entries[#entries][1]
  local ms, sequence = string.match(last, '^(%d+)-(%d+)$')
  unit.command('XTRIM', stream, 'MINID', '=', ms .. '-' .. string.format('%d', sequence + 1))
  return last, #entries == most
end
