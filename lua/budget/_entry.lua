--- @record entry
--- @include lib/maps
--- Ledger entries: one is stored for each settle and void, by its workKey, which is unique per budget and kind as long
--- as the reservation is kept.

--- Stores an entry in the hash of its budget and kind.
function entry.store(key, workKey, id, reservationId, amountMinor, overdrawnMinor)
  local text = id .. ' ' .. reservationId .. ' ' .. amountMinor
  maps.put(key, workKey, overdrawnMinor == '0' and text or text .. ' ' .. overdrawnMinor)
end

--- The entry of a workKey; nil if there is none.
function entry.find(key, workKey)
  local text = maps.get(key, workKey)
  if not text then return nil end
  local id, reservationId, amountMinor, overdrawnMinor = string.match(text, '^(%S+) (%S+) (%S+) ?(%S*)$')
  return { id = id, reservationId = reservationId, amountMinor = amountMinor,
    overdrawnMinor = overdrawnMinor == '' and '0' or overdrawnMinor }
end

--- The text by which a reservation refers to one of its entries.
function entry.reference(kind, workKey)
  return kind .. ' ' .. workKey
end

--- The kind and the workKey of a reference.
function entry.parse(reference)
  return string.match(reference, '^(%S+) (.*)$')
end
