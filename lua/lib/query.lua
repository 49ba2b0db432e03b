--- @export query
--- How rooms read the store: this function is their `redis.call`. Tests replace this file by a version that refuses
--- writes and stale reads.
local query = {}

function query.reader()
  return redis.call
end
