--- The test clock: the organization's own moment where a test has set one, else the store's.
local clock = {}
local now, nowText

function clock.begin()
  now = tonumber(redis.call('GET', root .. ':clock') or nil)
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  nowText = string.format('%d', now)
end
