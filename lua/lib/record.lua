--- A hash by the names of its fields; nil where there is none. One field costs as much to ask for as two come for unasked.
local function readRecord(key)
  local flat = redis.call('HGETALL', key)
  if not flat[1] then return nil end
  local record = {}
  for i = 1, #flat, 2 do record[flat[i]] = flat[i + 1] end
  return record
end
