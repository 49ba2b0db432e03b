--- @record entry
--- @include "lib/maps"
--- What is kept of settles and voids: an entry per workKey, unique per budget and kind, as long as its reservation.

--- Keeps an entry in the hash of its budget and kind.
function entry.keep(key, workKey, id, reservationId, amountMinor)
  maps.put(key, workKey, id .. ' ' .. reservationId .. ' ' .. amountMinor)
end

--- The entry that the hash has of the workKey; nil where there is none.
function entry.find(key, workKey)
  local text = maps.get(key, workKey)
  if not text then return nil end
  local id, reservationId, amountMinor = string.match(text, '^(%S+) (%S+) (%S+)')
  return { id = id, reservationId = reservationId, amountMinor = amountMinor }
end

--- What its reservation keeps of it, to find it by.
function entry.mark(kind, workKey)
  return kind .. ' ' .. workKey
end

--- The kind and the workKey that a mark says.
function entry.marked(mark)
  return string.match(mark, '^(%S+) (.*)$')
end
