--- @record bulk
--- @include lib/clock lib/finished lib/journal lib/records lib/refuse lib/timer
--- Bulk work: its record and its end.

function bulk.read(bulkId)
  return bulk.load(bulkId) or refuse('BULK_NOT_FOUND')
end

--- Ends a RUNNING bulk: DONE or CANCELLED.
function bulk.finish(record, state)
  bulk.enter(record, state)
  records.set(record, 'finishedAt', now)
  records.set(record, 'waitsFor', false)
  timer.disarmInBackground('bulk:step', record.id)
  finished.add('bulk:bulk', record.id, nowText)
  emit.bulk.ended(record.id, record)
  journal.wake(record.id)
end
