--- @export newId idHead momentOf currentHead
--- @include lib/clock
local moment, prefix
--- Hexadecimal digits: numbers below 16 as one digit, below 256 as two. Looking them up is faster than formatting.
local digit = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f' }
local digits = {}
for high = 0, 15 do
  for low = 0, 15 do digits[16 * high + low] = digit[high] .. digit[low] end
end

--- The first digits of an id made at this time, up to the fraction.
local function idHead(at)
  local time = string.format('%012x', at)
  return string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. '-7'
end

--- The time of an id or of its first digits.
local function momentOf(id)
  return tonumber(string.sub(id, 1, 8) .. string.sub(id, 10, 13), 16)
end

--- The first digits of the ids that this invocation has made; false if it has made none.
local function currentHead()
  return moment == now and prefix
end

--- A UUIDv7 (RFC 9562) of the script's time, ordered to a fraction of a millisecond (method 3). `tail` is the caller's
--- random part, `xxx-yxxx-xxxxxxxxxxxx` with the variant bits set; its last 62 bits are used.
local function newId(tail)
  if moment ~= now then moment, prefix = now, idHead(now) end
  local low = fraction % 256
  return prefix .. digit[(fraction - low) / 256] .. digits[low] .. string.sub(tail, 4)
end
