--- @args rateClass
--- @include "lib/clock"
--- @include "lib/refuse"
--- @include "lib/records"
--- Requests per minute, of a space and of its organization, of which a fifth is kept for recovery calls (contract
--- section 2).
local rates = {}
local minute, spaceRecord, spaceQuota, spaceUsed, sameSpaceMinute, isCounted
--- orgQuota: false where the plan sets no limit; orgShare: what ordinary calls may use of it.
local orgRecord, orgQuota, orgShare, orgUsed, orgRecovered, sameOrgMinute

function rates.begin()
  minute = string.format('%d', math.floor(now / 60000))
end

--- Of the organization: its record, with what it tells of the last minute that had requests. quota: of the plan.
function rates.ofOrg(record, quota)
  orgRecord, orgQuota = record, tonumber(quota) or false
  if not orgQuota then return end
  orgShare = math.max(1, math.floor(orgQuota * 0.8))
  sameOrgMinute = record.requestsMinute == minute
  orgUsed = sameOrgMinute and tonumber(record.usedRequests) or 0
  orgRecovered = sameOrgMinute and tonumber(record.usedRecovery) or 0
end

--- The same of a space.
function rates.ofSpace(record)
  spaceRecord, spaceQuota, isCounted = record, tonumber(record.requestsPerMinute), false
  if not spaceQuota then return end
  if orgQuota and orgQuota < spaceQuota then spaceQuota = orgQuota end
  sameSpaceMinute = record.requestsMinute == minute
  spaceUsed = sameSpaceMinute and tonumber(record.usedRequests) or 0
end

--- For a request of no space: only the organization's rate counts it.
function rates.ofNoSpace()
  spaceRecord, spaceQuota, spaceUsed, isCounted = {}, nil, 0, true
end

--- The space's requests per minute in force: its own figure, cut to the plan's; nil where there is no such space.
function rates.quota()
  return spaceQuota
end

--- What an ordinary call may still use of the organization's: the share is of ordinary calls alone, recovery calls
--- take from the rest first.
local function orgLeft()
  return math.max(0, math.min(orgShare + orgRecovered, orgQuota) - orgUsed)
end

--- Quota and what is left of it, of the space and of the organization, where there are such: four values, as text.
function rates.left()
  local space = spaceQuota and string.format('%d,%d', spaceQuota, math.max(0, spaceQuota - spaceUsed)) or ','
  return orgQuota and string.format('%s,%d,%d', space, orgQuota, orgLeft()) or space .. ',,'
end

function rates.check()
  if rateClass ~= 'held' and orgQuota and (rateClass == 'recovery' and orgQuota - orgUsed or orgLeft()) <= 0 then
    refuse('SERVICE_RATE_LIMITED')
  end
  if rateClass == 'ordinary' and spaceQuota and spaceUsed >= spaceQuota then refuse('RATE_LIMITED') end
end

--- Counts the request; from here on a refusal is counted too, and writes nothing else. A held request that looks
--- again is not a new request.
function rates.charge(requests)
  if rateClass == 'held' then return end
  spaceUsed = spaceUsed + requests
  -- Only the first request of a run marks what all of them change.
  if isCounted then
    spaceRecord.usedRequests = spaceUsed
  else
    isCounted = true
    records.set(spaceRecord, 'usedRequests', spaceUsed)
    if not sameSpaceMinute then records.set(spaceRecord, 'requestsMinute', minute) end
  end
  if orgQuota then
    orgUsed = orgUsed + requests
    records.set(orgRecord, 'usedRequests', orgUsed)
    if rateClass == 'recovery' then orgRecovered = orgRecovered + requests end
    if rateClass == 'recovery' or not sameOrgMinute then records.set(orgRecord, 'usedRecovery', orgRecovered) end
    if not sameOrgMinute then records.set(orgRecord, 'requestsMinute', minute) end
    sameOrgMinute = true
  end
end
