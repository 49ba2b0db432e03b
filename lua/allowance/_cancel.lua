--- @include lib/clock lib/hooks lib/page lib/queueTimer lib/sorted allowance/_waiter scope/_ending

--- Ends a WAITING waiter of a cancelled run. If its time was up before the cancel, it is EXPIRED.
function waiter.stop(record, cancel)
  if record.expiresAt <= cancel.cancelledAt then
    waiter.expire(record, record.expiresAt)
  else
    waiter.finish(record, 'CANCELLED', now, emit.waiter.cancelled, ending.count(cancel, 'cancelledWaiters'))
  end
end

--- Stops a waiter that is still in the queue. If it was the head, the waiters behind it are served by the next sweep,
--- which is due at once.
function waiter.unqueue(record, cancel)
  local isHead = sorted.first(keys.liveWaiters(record.allowanceId)) == record.id
  waiter.stop(record, cancel)
  if isHead then queueTimer.serve('allowance:grant', record.allowanceId, now) end
end

cancels.waiters = { total = 'cancelledWaiters', isLive = true }

function cancels.waiters.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeWaiters(scopeId), last, maxRecords)
end

function cancels.waiters.stop(id, cancel)
  local record = waiter.read(id)
  if record.state ~= 'WAITING' then return 0 end
  waiter.unqueue(record, cancel)
  return 1
end
