--- The moment of this call, read once: epoch milliseconds, as a number and (cheaper as an argument) as text.
--- Nobody else supplies "now".
local clock = {}
local now, nowText

function clock.begin()
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  nowText = string.format('%d', now)
end
