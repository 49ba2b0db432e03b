--- @shared rateClass
--- @export rates
--- @include lib/day lib/records lib/refuse
--- Requests per minute of a space and of its organization. A fifth of the organization's quota is reserved for recovery
--- calls.
local rates = {}
local spaceRecord, spaceQuota, spaceUsed, sameSpaceMinute, isCounted
--- The space's quota as the start of a head.
local spaceStart
--- orgQuota: false if the plan sets no limit; orgShare: the part that ordinary calls may use.
local orgRecord, orgQuota, orgShare, orgUsed, orgRecovered, sameOrgMinute

--- Starts from the organization's record, which has the counts of the last minute with requests. quota: the plan's
--- limit.
function rates.ofOrg(record, quota)
  orgRecord, orgQuota = record, tonumber(quota) or false
  if not orgQuota then return end
  orgShare = math.max(1, math.floor(orgQuota * 0.8))
  sameOrgMinute = record.requestsMinute == minuteText
  orgUsed = sameOrgMinute and tonumber(record.usedRequests) or 0
  orgRecovered = sameOrgMinute and tonumber(record.usedRecovery) or 0
end

--- Sets the quota of the space, which a call may have changed.
function rates.setQuota(record)
  spaceQuota = tonumber(record.requestsPerMinute)
  if orgQuota and orgQuota < spaceQuota then spaceQuota = orgQuota end
  spaceStart = string.format('%d,', spaceQuota)
end

--- Starts from the record of a space.
function rates.ofSpace(record)
  spaceRecord, spaceQuota, spaceStart, isCounted = record, nil, '', false
  if not record.requestsPerMinute then return end
  rates.setQuota(record)
  sameSpaceMinute = record.requestsMinute == minuteText
  spaceUsed = sameSpaceMinute and tonumber(record.usedRequests) or 0
end

--- For a request without a space: only the organization's rate counts it.
function rates.ofNoSpace()
  spaceRecord, spaceQuota, spaceStart, spaceUsed, isCounted = {}, nil, '', 0, true
end

--- The effective requests per minute of the space: its own limit or the plan's, whichever is lower; nil if the space
--- does not exist.
function rates.quota()
  return spaceQuota
end

--- The part of the organization's quota left for ordinary calls. Recovery calls use up the reserved fifth first.
local function orgLeft()
  return math.max(0, math.min(orgShare + orgRecovered, orgQuota) - orgUsed)
end

--- Quota and remainder of the space, then of the organization, as three texts to be joined; '' if there is no quota.
function rates.left()
  local space, org = ',', ',,'
  if spaceQuota then space = string.format('%d', spaceQuota > spaceUsed and spaceQuota - spaceUsed or 0) end
  if orgQuota then org = string.format(',%d,%d', orgQuota, orgLeft()) end
  return spaceStart, space, org
end

--- Makes the reads of an operator recovery calls if the caller may raise the limit, ordinary ones otherwise.
function rates.forOperator(mayRaise)
  rateClass = mayRaise and 'recovery' or 'ordinary'
end

function rates.check()
  if rateClass ~= 'held' and orgQuota and (rateClass == 'recovery' and orgQuota - orgUsed or orgLeft()) <= 0 then
    refuse('SERVICE_RATE_LIMITED')
  end
  if rateClass == 'ordinary' and spaceQuota and spaceUsed >= spaceQuota then refuse('RATE_LIMITED') end
end

--- Counts the request. From here on a refusal counts too, and writes nothing else. A retry of a held request is not
--- counted again.
function rates.charge(requests)
  if rateClass == 'held' then return end
  spaceUsed = spaceUsed + requests
  -- The first request of an invocation marks the field as changed; the others only update it.
  if isCounted then
    spaceRecord.usedRequests = spaceUsed
  else
    isCounted = true
    records.set(spaceRecord, 'usedRequests', spaceUsed)
    if not sameSpaceMinute then records.set(spaceRecord, 'requestsMinute', minuteText) end
  end
  if orgQuota then
    orgUsed = orgUsed + requests
    records.set(orgRecord, 'usedRequests', orgUsed)
    if rateClass == 'recovery' then orgRecovered = orgRecovered + requests end
    if rateClass == 'recovery' or not sameOrgMinute then records.set(orgRecord, 'usedRecovery', orgRecovered) end
    if not sameOrgMinute then records.set(orgRecord, 'requestsMinute', minuteText) end
    sameOrgMinute = true
  end
end
