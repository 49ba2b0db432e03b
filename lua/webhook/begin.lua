--- Opens the next attempt of a delivery: replies with the moment, what to send where, the secrets that sign and the
--- attempt's number; with nothing when there is nothing to do or somebody is at it. An attempt that was opened and not
--- closed in its time was its worker's last: it is recorded as INTERRUPTED.
--- @args destinationId entryId
--- @reply now url secrets attempt entry
--- @include "lib/clock"
--- @include "lib/count"
--- @include "webhook/_delivery"
local target = keyspace.find() and destination.target(destinationId)
if not target or target.state ~= 'ACTIVE' or not redis.call('ZSCORE', keys.unfinished(destinationId), entryId) then return nil end
local progress = delivery.progress(destinationId, entryId) or { made = 0 }
local made, begunAt = progress.made, progress.begunAt
if begunAt and now < begunAt + delivery.guardMs then return nil end

local entry = redis.call('XRANGE', keys.events(), entryId, entryId)[1]
local open = entry ~= nil
if not open then delivery.finish(destinationId, entryId, 'EXHAUSTED') end
if open and begunAt then
  made = made + 1
  local lost = { destinationId = destinationId, eventType = entry[2][1], attempt = made, errorCode = 'INTERRUPTED',
    durationMs = now - begunAt, attemptedAt = begunAt }
  open = delivery.failed(lost, entryId, 0, 1) ~= nil
end
if open then delivery.open(destinationId, entryId, made) end
unit.write()
if not open then return nil end
return { now = now, url = target.url, secrets = target.secrets, attempt = made + 1, entry = entry }
