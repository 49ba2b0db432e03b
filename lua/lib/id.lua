--- @include "lib/clock"
--- A UUIDv7 (RFC 9562) of this script's moment; `tail` is the caller's random part, `xxx-yxxx-xxxxxxxxxxxx`
--- with the variant bits already set.
local function newId(tail)
  local time = string.format('%012x', now)
  return string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. '-7' .. tail
end
