--- @include "lib/timer"
--- @include "lib/records"
--- @include "lib/sorted"
--- Held claims of the space, by the end of their lease. One timer of the organization stands for all of them: its
--- moment is the space's `nextLease`, never after the earliest end, so a claim costs one command when it is taken and
--- one when it is given up, and the space's claims can be read without the others'.
local lease = {}

--- Holds a claim until `at`, or moves its end there. nextLease: the space's field, as read. Returns `at` as text.
function lease.hold(messageId, at, nextLease)
  local text = string.format('%d', at)
  sorted.add(keys.claims(), text, messageId)
  if at < (tonumber(nextLease) or math.huge) then
    timer.arm('mailbox:lease', '', at)
    records.put(keys.space(), 'nextLease', text)
  end
  return text
end

function lease.drop(messageId)
  sorted.remove(keys.claims(), messageId)
end

--- The earliest claim, when its lease ends by `at`: it is given up.
function lease.takeDue(at)
  local messageId, endsAt = sorted.first(keys.claims())
  if not messageId or tonumber(endsAt) > at then return nil end
  lease.drop(messageId)
  return messageId, tonumber(endsAt)
end

--- Arms the timer anew, for the claim that is the earliest now.
function lease.rearm()
  local _, endsAt = sorted.first(keys.claims())
  records.put(keys.space(), 'nextLease', endsAt or '')
  if endsAt then timer.arm('mailbox:lease', '', tonumber(endsAt)) end
end
