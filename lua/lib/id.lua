--- @include "lib/clock"
--- A UUIDv7 (RFC 9562) of this script's moment, in order down to a fraction of the millisecond (its method 3); `tail`
--- is the caller's random part, `xxx-yxxx-xxxxxxxxxxxx` with the variant bits set, of which the last 62 bits are used.
local function newId(tail)
  local time = string.format('%012x', now)
  return string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. string.format('-7%03x', fraction) .. string.sub(tail, 4)
end
