--- @include lib/gathered lib/records
--- @export maps
--- Hashes with arbitrary fields, as this invocation has changed them. At the end, one HDEL and one HSET per hash are
--- sent. The arguments of the HSET are indexed by field.
local maps = {}
local puts, removals = gathered.byKey.HSET, gathered.byKey.HDEL

--- The value of a field; false if there is none.
function maps.get(key, field)
  local args = puts[key]
  local place = args and args[field]
  if place then return args[place] end
  if removals[key] and gathered.placeOf('HDEL', key, field, 1, 1) then return false end
  return redis.call('HGET', key, field)
end

function maps.put(key, field, value)
  local args = puts[key]
  local place = args and args[field]
  if place then
    args[place] = value
  else
    gathered.add('HSET', key, field, value)
    args = puts[key]
    args[field] = #args
  end
end

function maps.all(key)
  local fields = records.stored(key)
  local gone, args = removals[key], puts[key]
  for i = 3, gone and #gone or 0 do fields[gone[i]] = nil end
  for i = 3, args and #args or 0, 2 do fields[args[i]] = args[i + 1] end
  return fields
end

function maps.remove(key, field)
  local args = puts[key]
  local place = args and args[field]
  if place then
    local last = #args
    args[place - 1], args[place], args[args[last - 1]] = args[last - 1], args[last], place
    args[field], args[last - 1], args[last] = nil, nil, nil
  end
  gathered.add('HDEL', key, field)
end
