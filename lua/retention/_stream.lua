--- @export trimStream
--- @include lib/streamId lib/unit
--- Trims at most `maxEntries` entries of a stream up to the time `through`. Returns the id of the last one, nil if none
--- was trimmed, and whether there may be more.
local function trimStream(stream, through, maxEntries)
  if through < 0 then return nil, false end
  local entries = redis.call('XRANGE', stream, '-', string.format('%d', through), 'COUNT', maxEntries)
  if not entries[1] then return nil, false end
  local last = entries[#entries][1]
  unit.command('XTRIM', stream, 'MINID', '=', streamId.after(last))
  return last, #entries == maxEntries
end
