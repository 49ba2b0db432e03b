--- @include lib/gauges
--- The next moment of the space's schedules; false if there is none.
function gauges.nextScheduleAt()
  return tonumber(redis.call('ZRANGE', keys.nextSchedules(), 0, 0, 'WITHSCORES')[2]) or false
end
