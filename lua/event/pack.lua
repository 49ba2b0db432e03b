--- Packs the oldest events of a journal: `segment`, with `count` events from `first` to `last`, replaces the stream
--- entries from `head` to `tail` (each `id type text`). If it also contains the events of the newest segment, merged
--- and mergedDigest name that segment; otherwise they are ''. Changes nothing if the stream no longer starts with these
--- entries.
--- @full
--- @args spaceId requestId head tail first last count digest merged mergedDigest
--- @long segment
--- @reply isPacked
--- @include lib/records lib/space lib/streamId lib/unit event/_segments
local function isEntry(text, entry)
  return entry and text == entry[1] .. ' ' .. entry[2][1] .. ' ' .. entry[2][2]
end

if not keyspace.find() then return { isPacked = 0 } end
local newest = segments.newest()
if not isEntry(head, redis.call('XRANGE', keys.events(), '-', '+', 'COUNT', 1)[1])
  or not isEntry(tail, redis.call('XRANGE', keys.events(), last, last)[1])
  or merged ~= '' and not (newest and newest.last == merged and newest.digest == mergedDigest) then
  return { isPacked = 0 }
end
-- If a later segment exists, XADD refuses this id, and nothing is written.
unit.command('XADD', keys.eventSegments(), last, 'first', first, 'count', count, 'digest', digest)
unit.command('SET', keys.eventSegment(last), segment)
unit.command('XTRIM', keys.events(), 'MINID', '=', streamId.after(last))
if merged ~= '' then
  unit.command('XDEL', keys.eventSegments(), merged)
  unit.command('UNLINK', keys.eventSegment(merged))
end
records.put(keys.space(spaceId), 'packedThrough', last)
unit.write()
return { isPacked = 1 }
