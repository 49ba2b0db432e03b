--- @include "lib/clock"
local moment, prefix

--- What ids of a moment begin with, before the digits of its fraction.
local function idHead(at)
  local time = string.format('%012x', at)
  return string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. '-7'
end

--- What the ids begin with that this run has made of its moment; false where it has made none.
local function headMade()
  return moment == now and prefix
end

--- A UUIDv7 (RFC 9562) of this script's moment, in order down to a fraction of the millisecond (its method 3); `tail`
--- is the caller's random part, `xxx-yxxx-xxxxxxxxxxxx` with the variant bits set, of which the last 62 bits are used.
local function newId(tail)
  if moment ~= now then moment, prefix = now, idHead(now) end
  return prefix .. string.format('%03x', fraction) .. string.sub(tail, 4)
end
