--- @include "lib/clock"
--- @include "lib/space"
--- @include "lib/maps"
--- @include "lib/usage"
--- What requests with an Idempotency-Key were answered (contract section 2), for 24 hours: one hash for each day in
--- which they came, which goes as a whole. A key of its own, with an expiry, costs three times as much.
local idempotency = { windowMs = 86400000 }
local yesterday
--- Where the answers of the day stand, of the request at hand.
local todaysKey

function idempotency.begin()
  yesterday = string.format('%d', usage.today - 1)
end

--- The day at hand and the one before. After a clock went back over midnight the later day goes on, as it does in usage.
local function days()
  local today, day = usage.today, usage.space.usageDay
  if day ~= today and day == string.format('%d', today + 1) then return day, today end
  return today, yesterday
end

--- The fingerprint of the request that came with this key, and the list that it was answered with; nil where there was
--- none within the window.
function idempotency.find(digest)
  local day, dayBefore = days()
  todaysKey = keys.idempotency(day)
  local record = maps.get(todaysKey, digest) or redis.call('HGET', keys.idempotency(dayBefore), digest)
  if record and now - tonumber(string.sub(record, 23, 35)) < idempotency.windowMs then
    return string.sub(record, 1, 22), cmsgpack.unpack(string.sub(record, 36))
  end
end

--- For a request that was looked for. fingerprint: 22 characters.
function idempotency.keep(digest, fingerprint, list)
  maps.put(todaysKey, digest, fingerprint .. nowText .. cmsgpack.pack(list))
end
