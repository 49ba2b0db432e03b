--- @include "lib/clock"
--- @include "lib/space"
--- @include "lib/maps"
--- @include "lib/usage"
--- @include "lib/id"
--- What requests with an Idempotency-Key were answered (contract section 2), for 24 hours: one hash for each day in
--- which they came, which goes as a whole. A key of its own, with an expiry, costs three times as much.
--- An entry is short: 10 characters of fingerprint, 4 bytes that say when, in milliseconds since the day before its own
--- began, and the answer as MessagePack: a list, or, of few values, these. What an id made by the call begins with is its
--- moment again and left out there; the upper 4 bits of the moment say where. A send's takes 48 bytes with its header.
local idempotency, windowMs = {}, 86400000
--- Above all moments of two days.
local cutBit = 2 ^ 28
--- Where the answers of the day stand, of the request at hand; and the moment, as an entry of that day has it.
local todaysKey, todaysMoment
--- The day before; the day of the last call, and what its entries count from.
local yesterday, lastDay, lastStart

function idempotency.begin() yesterday = string.format('%d', usage.today - 1) end

--- The day at hand and the one before. After a clock went back over midnight the later day goes on, as in usage.
local function days()
  local today, day = usage.today, usage.space.usageDay
  if day ~= today and day == string.format('%d', today + 1) then return day, today end
  return today, yesterday
end

--- What entries of a day count from.
local function startOf(day) return (day - 1) * windowMs end

--- The fingerprint of the request that came with this key, and the list that it was answered with; nil where there was
--- none within the window.
function idempotency.find(digest)
  local day, dayBefore = days()
  todaysKey = keys.idempotency(day)
  if lastDay ~= day then lastDay, lastStart = day, startOf(day) end
  todaysMoment = now - lastStart
  local entry = maps.get(todaysKey, digest)
  if not entry then
    day, entry = dayBefore, redis.call('HGET', keys.idempotency(dayBefore), digest)
    if not entry then return nil end
  end
  local stamp = struct.unpack('>I4', entry, 11)
  local at = startOf(day) + stamp % cutBit
  if now - at >= windowMs then return nil end
  local cut, values = math.floor(stamp / cutBit), string.sub(entry, 15)
  if cut > 0 then values = string.sub(values, 1, cut - 1) .. idHead(at) .. string.sub(values, cut) end
  local list = { '', cmsgpack.unpack(values) }
  return string.sub(entry, 1, 10), type(list[2]) == 'table' and list[2] or list
end

--- For a request that was looked for. fingerprint: 10 characters. list: the answer, its note first.
function idempotency.keep(digest, fingerprint, list)
  local few = #list > 1 and #list < 5 and type(list[2]) ~= 'table' and type(list[#list]) ~= 'table'
  local values = few and cmsgpack.pack(unpack(list, 2)) or cmsgpack.pack(list)
  local head = few and headMade()
  local cut = head and string.find(values, head, 1, true)
  if cut and cut < 16 then values = string.sub(values, 1, cut - 1) .. string.sub(values, cut + #head) else cut = 0 end
  maps.put(todaysKey, digest, fingerprint .. struct.pack('>I4', todaysMoment + cut * cutBit) .. values)
end
