--- @export lease
--- @registry leases
--- @include lib/decimal lib/records lib/refuse lib/sorted lib/space lib/timer
--- Leases of the space: for each kind a sorted set by the end of the lease. All leases of a kind share one timer of the
--- organization. Its time is kept in the space's record and is never later than the earliest end. So starting a lease
--- costs one command, ending it one more, and the leases of one space can be read by themselves.
---
--- kind: the timer's kind, `<room>:<kind>`; key: the sorted set. `leases` maps a kind to its field in the space's
--- record.
local lease, leases = {}, {}

--- The length of a lease in seconds. asked: a number; 'longest' for the space's maximum; '' for `default`, but at most
--- the space's maximum.
function lease.seconds(asked, default, maxLeaseSeconds)
  local longest = tonumber(maxLeaseSeconds)
  local seconds = asked == 'longest' and longest or tonumber(asked) or math.min(default, longest)
  if seconds > longest then refuse('LEASE_LIMIT_EXCEEDED', longest) end
  return seconds
end

--- Starts or extends a lease until `at`. nextAt: the time of the timer, from the space's record. Returns `at` as text.
function lease.hold(kind, key, id, at, nextAt)
  local text = decimal(at)
  sorted.add(key, text, id)
  if at < (tonumber(nextAt) or math.huge) then
    timer.arm(kind, '', at)
    records.put(keys.space(spaceId), leases[kind], text)
  end
  return text
end

--- Removes and returns the earliest lease if it ends by `at`.
function lease.takeDue(key, at)
  local id, endsAt = sorted.first(key)
  if not id or tonumber(endsAt) > at then return nil end
  sorted.remove(key, id)
  return id, tonumber(endsAt)
end

--- Arms the timer for the earliest lease.
function lease.rearm(kind, key)
  local _, endsAt = sorted.first(key)
  records.put(keys.space(spaceId), leases[kind], endsAt or '')
  if endsAt then timer.arm(kind, '', tonumber(endsAt)) end
end
