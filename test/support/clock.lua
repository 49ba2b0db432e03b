--- @export clock now nowText fraction
--- @include lib/invocation
--- The test clock: the organization's own moment where a test has set one, else the store's.
local clock = {}
local now, nowText, fraction

function clock.start()
  now = tonumber(redis.call('GET', root .. ':clock') or nil)
  if now then
    -- Time stands still, order does not.
    fraction = redis.call('INCR', root .. ':clock:ticks') % 4096
  else
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
    fraction = math.min(4064, math.floor(time[2] % 1000 * 4.096))
  end
  nowText = string.format('%d', now)
end

function clock.step()
  fraction = now and redis.call('EXISTS', root .. ':clock') == 1 and redis.call('INCR', root .. ':clock:ticks') % 4096
    or math.min(4095, fraction + 1)
end
