--- @export cancelBarrier
--- @include lib/hooks lib/page barrier/_barrier scope/_ending

local function cancelBarrier(record, cause)
  barrier.finish(record, 'CANCELLED')
  emit.barrier.cancelled(record.id, record, cause)
end

--- Cancels a barrier of a cancelled run if it is OPEN. Returns whether it was.
function barrier.stop(record, cancel)
  if record.state ~= 'OPEN' or not cancel then return false end
  cancelBarrier(record, ending.count(cancel, 'cancelledBarriers'))
  return true
end

cancels.barriers = { total = 'cancelledBarriers' }

function cancels.barriers.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeBarriers(scopeId), last, maxRecords)
end

function cancels.barriers.stop(id, cancel)
  return barrier.stop(barrier.read(id), cancel) and 1 or 0
end
