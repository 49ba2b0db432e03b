--- What every request goes through, inside the script that makes its change (contract section 2): API key,
--- permission, space, rates, due timers, idempotent replay; and at the end counters, usage, journal wake-up and the
--- idempotency record. A script opens with call.open or call.read and returns call.done, .unchanged, .uncounted or
--- .answer. Each of the two records is read once and written once.
--- @args apiKeyDigest permission rateClass callName idempotencyDigest fingerprint drainedThrough
--- @include "lib/clock"
--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/journal"
--- @include "lib/usage"
local call = {}
local minute, spaceValues, spaceQuota, spaceUsed, orgQuota, orgUsed, sameSpaceMinute, sameOrgMinute, hardStop
--- What the plan grants, nil where it sets no limit, and what is in use of it.
local planTasks, usedTasks, planAgents, usedAgents

function call.begin()
  minute = string.format('%d', math.floor(now / 60000))
  spaceQuota, orgQuota = nil, nil
end

--- What an ordinary call may use of the organization's rate: a fifth is kept for recovery calls.
local function ordinaryShare()
  return math.max(1, math.floor(orgQuota * 0.8))
end

--- The first element of every reply and the second word of every refusal: what Node makes headers of.
local function note(replayed)
  local rates = spaceQuota and string.format('%d,%d', spaceQuota, math.max(0, spaceQuota - spaceUsed)) or ','
  local orgRates = orgQuota and string.format('%d,%d', orgQuota, math.max(0, ordinaryShare() - orgUsed)) or ','
  return nowText .. ',' .. timer.wake .. ',' .. (replayed or '') .. ',' .. rates .. ',' .. orgRates
end

local function countRequest(set, sameMinute, used)
  local n = #set
  set[n + 1], set[n + 2] = 'usedRequests', string.format('%d', used)
  if not sameMinute then set[n + 3], set[n + 4] = 'requestsMinute', minute end
end

--- Counts the request; from here on a refusal is counted too, and writes nothing else. A held request that looks
--- again is not a new request.
local function charge()
  if rateClass ~= 'held' then
    spaceUsed = spaceUsed + 1
    countRequest(count.setSpace, sameSpaceMinute, spaceUsed)
    if orgQuota then
      orgUsed = orgUsed + 1
      countRequest(count.setOrg, sameOrgMinute, orgUsed)
    end
  end
  beforeRefusal = function()
    count.space, count.org = {}, {}
    count.write()
    return note()
  end
end

--- Key, permission, space and rates. Leaves the asked-for fields of the space's record in spaceValues, from the fifth.
local function admit(...)
  local key = redis.call('HMGET', keys.apiKey(apiKeyDigest), 'permissions', 'spaces', 'revokedAt')
  if not key[1] or key[3] then refuse('INVALID_API_KEY') end
  local org = redis.call('HMGET', keys.org(), 'rpm', 'requestsMinute', 'usedRequests', 'nextDue', 'plan', 'operations',
    'operationsDay', 'operationsMonth', 'usedOperations', 'tasks', 'usedTasks', 'agents', 'usedAgents')
  -- A malformed spaceId arrives empty and finds no space; Node says what is wrong with it once the caller is known.
  local space = redis.call('HMGET', keys.space(), 'requestsPerMinute', 'requestsMinute', 'usedRequests', 'usageDay', ...)
  orgQuota = tonumber(org[1])
  if orgQuota then
    sameOrgMinute = org[2] == minute
    orgUsed = sameOrgMinute and tonumber(org[3]) or 0
  end
  if space[1] then
    spaceQuota = math.min(tonumber(space[1]), orgQuota or math.huge)
    sameSpaceMinute = space[2] == minute
    spaceUsed = sameSpaceMinute and tonumber(space[3]) or 0
  end
  beforeRefusal = note
  if not string.find(key[1], permission, 1, true) then refuse('PERMISSION_DENIED', permission) end
  if key[2] ~= '' and not string.find(key[2], spaceId, 1, true) then refuse('PERMISSION_DENIED', 'space') end
  if not space[1] then refuse('SPACE_NOT_FOUND') end
  if rateClass ~= 'held' and orgQuota and orgUsed >= (rateClass == 'recovery' and orgQuota or ordinaryShare()) then refuse('SERVICE_RATE_LIMITED') end
  if rateClass == 'ordinary' and spaceUsed >= spaceQuota then refuse('RATE_LIMITED') end

  timer.nextDue = tonumber(org[4]) or math.huge
  usage.read(space[4], org[7], org[8], org[9])
  hardStop = org[5] == 'free' and tonumber(org[6])
  planTasks, planAgents = tonumber(org[10]), tonumber(org[12])
  usedTasks, usedAgents = planTasks and tonumber(org[11]) or 0, planAgents and tonumber(org[13]) or 0
  spaceValues = space
end

local function finish(replayed, ...)
  count.write()
  journal.publish()
  return { note(replayed), ... }
end

--- For scripts that change nothing. Returns the asked-for fields of the space's record.
function call.read(...)
  admit(...)
  charge()
  return unpack(spaceValues, 5, 4 + select('#', ...))
end

--- The requests per minute in force: the space's own figure, cut to the plan's.
function call.quota()
  return spaceQuota
end

--- For scripts that change something. Returns the answer of an earlier request with the same Idempotency-Key, or
--- false and the asked-for fields of the space's record. What is due comes first: the script answers DUE, nothing
--- written, Node has timer/sweep make it real and calls again. `drainedThrough` is the moment of that sweep; only
--- what was due by then can send the call back, so a call gets through however fast timers fall due.
function call.open(...)
  admit(...)
  if timer.nextDue <= (tonumber(drainedThrough) or now) then error({ err = 'DUE - ' }) end
  charge()
  if idempotencyDigest ~= '' then
    local record = redis.call('GET', keys.idempotency(idempotencyDigest))
    -- Its expiry follows the same 24 hours; the moment inside is what counts.
    if record and now - tonumber(string.sub(record, 23, 35)) < 86400000 then
      if string.sub(record, 1, 22) ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
      usage.countUncounted()
      return finish('1', unpack(cmsgpack.unpack(string.sub(record, 36))))
    end
  end
  return false, unpack(spaceValues, 5, 4 + select('#', ...))
end

--- Free plan only: refuses new work once the month's operations are used up. Never called by recovery calls.
function call.needOperation()
  if hardStop and usage.operations >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

local function remember(...)
  if idempotencyDigest ~= '' then
    redis.call('SET', keys.idempotency(idempotencyDigest), fingerprint .. nowText .. cmsgpack.pack({ ... }), 'EX', '86400')
  end
end

--- The answer of a call that changed something: one operation.
function call.done(...)
  usage.countOperation(callName)
  remember(...)
  return finish(nil, ...)
end

--- The answer of a call that found everything as asked for already: no operation.
function call.unchanged(...)
  remember(...)
  return finish(nil, ...)
end

--- The answer of a renewal, a natural replay or an empty poll: a syscall, no operation.
function call.uncounted(...)
  if rateClass ~= 'held' then usage.countUncounted() end
  remember(...)
  return finish(nil, ...)
end

--- The answer of a read.
function call.answer(...)
  return finish(nil, ...)
end
