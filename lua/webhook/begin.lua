--- Starts the next attempt of a delivery. Replies with the event, the url to send it to, the secrets that sign and the
--- attempt's number; or with nothing if there is nothing to do or another worker has it. An earlier attempt that was
--- not closed in time is recorded as INTERRUPTED: its worker has died. opened: the event, if it is packed
--- (event/_segments).
--- @args spaceId requestId destinationId entryId
--- @long opened
--- @reply now url secrets attempt entry
--- @include lib/clock lib/space lib/unit event/_segments space/_space webhook/_delivery webhook/_destination
local target = keyspace.find() and destination.target(destinationId)
if not target or target.state ~= 'ACTIVE' or not redis.call('ZSCORE', keys.unfinished(destinationId), entryId) then
  return nil
end
local progress = delivery.progress(destinationId, entryId) or { attempts = 0 }
local attempts, begunAt = progress.attempts, progress.begunAt
if begunAt and now < begunAt + delivery.guardMs then return nil end

local record = space.load(spaceId, 'packedThrough', 'trimmedThrough')
local entry, wanted = segments.entry(entryId, opened, record.packedThrough, record.trimmedThrough)
if wanted then error({ err = 'PACKED - ' .. wanted }) end
local open = entry ~= nil
if not open then delivery.finish(destinationId, entryId, 'EXHAUSTED') end
if open and begunAt then
  attempts = attempts + 1
  local lost = { destinationId = destinationId, eventType = entry[2][1], attempt = attempts, errorCode = 'INTERRUPTED',
    durationMs = now - begunAt, attemptedAt = begunAt }
  open = delivery.failed(lost, entryId, 0, 1) ~= nil
end
if open then delivery.open(destinationId, entryId, attempts) end
unit.write()
if not open then return nil end
return { now = now, url = target.url, secrets = target.secrets, attempt = attempts + 1, entry = entry }
