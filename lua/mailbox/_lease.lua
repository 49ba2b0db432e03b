--- @export lease
--- @include lib/decimal lib/records lib/sorted lib/space lib/timer
--- The claims of the space by the end of their lease. They share one timer of the organization, which is armed for the
--- space's `nextLease`, never later than the earliest end. So taking a claim costs one command, and so does ending it, and
--- the claims of one space can be read without those of others.
local lease = {}

--- Starts or extends a claim until `at`. nextLease: the space's field, as read. Returns `at` as text.
function lease.hold(messageId, at, nextLease)
  local text = decimal(at)
  sorted.add(keys.claims(), text, messageId)
  if at < (tonumber(nextLease) or math.huge) then
    timer.arm('mailbox:lease', '', at)
    records.put(keys.space(spaceId), 'nextLease', text)
  end
  return text
end

function lease.drop(messageId)
  sorted.remove(keys.claims(), messageId)
end

--- Removes and returns the earliest claim if its lease ends by `at`.
function lease.takeDue(at)
  local messageId, endsAt = sorted.first(keys.claims())
  if not messageId or tonumber(endsAt) > at then return nil end
  lease.drop(messageId)
  return messageId, tonumber(endsAt)
end

--- Arms the timer for the claim that is the earliest now.
function lease.rearm()
  local _, endsAt = sorted.first(keys.claims())
  records.put(keys.space(spaceId), 'nextLease', endsAt or '')
  if endsAt then timer.arm('mailbox:lease', '', tonumber(endsAt)) end
end
