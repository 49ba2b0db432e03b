--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/later"
--- Held claims of the space, by the end of their lease. One timer of the organization stands for all of them: its
--- moment is the space's `nextLease`, never after the earliest end, so a claim costs one command when it is taken and
--- one when it is given up, and the space's claims can be read without the others'.
local lease = {}

local function earliest()
  later.settle(keys.claims())
  return redis.call('ZRANGE', keys.claims(), 0, 0, 'WITHSCORES')
end

--- Holds a claim until `at`, or moves its end there. nextLease: the space's field, as read. Returns `at` as text.
function lease.hold(messageId, at, nextLease)
  local text = string.format('%d', at)
  later.enter(keys.claims(), text, messageId)
  if at < (tonumber(nextLease) or math.huge) then
    timer.arm('mailbox:lease:' .. spaceNumber .. ':', at)
    count.setSpace.nextLease = text
  end
  return text
end

function lease.drop(messageId)
  later.leave(keys.claims(), messageId)
end

--- The earliest claim, when its lease ends by `at`: it is given up.
function lease.takeDue(at)
  local head = earliest()
  if not head[1] or tonumber(head[2]) > at then return nil end
  lease.drop(head[1])
  return head[1], tonumber(head[2])
end

--- Arms the timer anew, for the claim that is the earliest now.
function lease.rearm()
  local head = earliest()
  redis.call('HSET', keys.space(), 'nextLease', head[2] or '')
  if head[2] then timer.arm('mailbox:lease:' .. spaceNumber .. ':', tonumber(head[2])) end
end
