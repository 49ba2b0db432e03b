--- The moment of this script, epoch milliseconds, read once. Nobody else supplies "now".
local now
do
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
