--- @include lib/caller lib/clock lib/guards lib/hooks lib/refuse lib/sorted lib/timer lib/unit bulk/_bulk scope/_retain
--- @include scope/_scope
--- What the room adds to the work of others: see lib/hooks.

--- When another worker goes on if the one that this was asked of has died (src/primitives/bulk/work.ts).
local takeOverMs = 10000

due['bulk:step'] = function(bulkId)
  local record = bulk.load(bulkId, 'state', 'requestId')
  if record and record.state == 'RUNNING' then
    timer.armInBackground('bulk:step', bulkId, now + takeOverMs)
    timer.ask('bulk', bulkId, record.requestId)
  end
  return 1
end

inRun.bulks = {}

function inRun.bulks.index(scopeId)
  return keys.scopeBulks(scopeId)
end

function inRun.bulks.row(id)
  return rows.bulk(bulk.read(id))
end

--- For a caller limited to mailboxes.
function guards.bulkId(bulkId)
  local record = bulk.load(bulkId, 'action', 'mailboxId')
  if not record then return end
  if not record.mailboxId then refuse('PERMISSION_DENIED', 'mailboxes') end
  caller.needMailbox(record.mailboxId)
end

--- Bulk work that has ended.
retained['bulk:bulk'] = function(bulkId, at)
  local record = bulk.load(bulkId, 'scopeId', 'state')
  unit.delete(keys.bulk(bulkId))
  sorted.remove(keys.bulks(), bulkId)
  bulk.leave(record.state)
  if record.scopeId then
    sorted.remove(keys.scopeBulks(record.scopeId), bulkId)
    scope.release(record.scopeId, at)
  end
end
