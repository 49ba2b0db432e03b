--- An organization's plan, limits and current use.
--- @reply organization:org
--- @include lib/clock lib/date lib/refuse org/_apiKey org/_org
local record = org.load() or refuse('ORG_NOT_FOUND')
record.usedKeys = apiKey.used(record)
if record.operationsMonth ~= string.sub(dateOf(now), 1, 7) then record.usedOperations = 0 end
if record.requestsMinute ~= math.floor(now / 60000) then record.usedRequests = 0 end
return { organization = record }
