--- @export query
--- @include lib/unit
--- Rooms only read; they make changes through lib/unit. They read a key that this invocation has changed only by
--- lib/records, lib/sorted and lib/sets: nothing is written before the end, so any other read would see the old value.
local query = {}
local reads = { EXISTS = true, GET = true, HEXISTS = true, HGET = true, HGETALL = true, HLEN = true, HMGET = true,
  HSCAN = true, HSTRLEN = true, LLEN = true, LRANGE = true, SISMEMBER = true, XINFO = true, XRANGE = true,
  XREVRANGE = true, ZCARD = true, ZCOUNT = true, ZMSCORE = true, ZRANGE = true, ZRANK = true, ZSCORE = true, }

local function guarded(name, key, ...)
  if not reads[name] then error('a room writes by itself: ' .. name .. ' ' .. key) end
  for _, one in ipairs(name == 'EXISTS' and { key, ... } or { name == 'XINFO' and (...) or key }) do
    if unit.isChanged(one) then error('a room reads what this invocation has changed: ' .. name .. ' ' .. one) end
  end
  return redis.call(name, key, ...)
end

function query.reader()
  return guarded
end
