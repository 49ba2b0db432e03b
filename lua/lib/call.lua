--- What every request goes through, inside the script that makes its change (contract section 2): API key,
--- permission, space, rates, due timers, idempotent replay; and at the end counters, usage, journal wake-up and the
--- idempotency record. A script opens with call.open or call.read and returns call.done, .unchanged, .uncounted or
--- .answer. Requests of an organization that arrive together may share a run: each is all or nothing by itself, but
--- the records of key, organization and space are read once and written once.
--- @args apiKeyDigest permission rateClass callName idempotencyDigest fingerprint drainedThrough
--- @around call.serve
--- @include "lib/clock"
--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/journal"
--- @include "lib/usage"
--- @include "lib/idempotency"
local call = {}
local minute, spaceNames, spaceValues, spaceQuota, spaceUsed, sameSpaceMinute, orgQuota, orgShare, orgUsed, orgRecovered, sameOrgMinute, hardStop
--- What the run has read: the key, and what it may do; whether the organization; which space, and whether for an
--- earlier request.
local keyRead, permissions, keySpaces, orgRead, spaceRead, again
--- What the plan grants, nil where it sets no limit, and what is in use of it.
local planTasks, usedTasks, planAgents, usedAgents

function call.begin()
  minute = string.format('%d', math.floor(now / 60000))
  keyRead, orgRead, spaceRead = nil, false, nil
end

local function spaceLeft()
  return math.max(0, spaceQuota - spaceUsed)
end

--- What an ordinary call may still use: the share is of ordinary calls alone, recovery calls take from the rest first.
local function orgLeft()
  return math.max(0, math.min(orgShare + orgRecovered, orgQuota) - orgUsed)
end

--- The first element of every reply and the second word of every refusal: what Node makes headers of. As one text,
--- which costs less than seven values do. replayed: '1', or nothing.
local function note(replayed)
  local space = spaceQuota and string.format('%d,%d', spaceQuota, spaceLeft()) or ','
  local org = orgQuota and string.format(',%d,%d', orgQuota, orgLeft()) or ',,'
  return nowText .. ',' .. timer.wake .. ',' .. (replayed or '') .. ',' .. space .. org
end

--- pcall hands on an error's text: a refusal as it is, anything else is a defect.
local function failure(text)
  return string.find(text, '^%u[%u_]+ ') and text or 'ERR ' .. text
end

--- Runs the script's body for each request and writes what they gathered. A single request is answered by itself, and
--- refused by an error; of several, a list is answered, where a refusal is an error.
function call.serve(args, width, body)
  if #args == width then
    local ok, reply = pcall(body, args, 0)
    count.write()
    journal.publish()
    if not ok then error({ err = failure(reply) }) end
    return reply
  end
  local replies = {}
  later.gathers = true
  for first = 0, #args - 1, width do
    local ok, reply = pcall(body, args, first)
    replies[#replies + 1] = ok and reply or { err = failure(reply) }
    clock.step()
    timer.wake, beforeRefusal = '', nil
  end
  -- The last request may have been refused before its space was read.
  spaceId = spaceRead or spaceId
  count.write()
  journal.publish()
  return replies
end

local function readKey()
  local key = redis.call('HMGET', keys.apiKey(apiKeyDigest), 'permissions', 'spaces', 'revokedAt')
  if not key[1] or key[3] then refuse('INVALID_API_KEY') end
  keyRead, permissions, keySpaces = apiKeyDigest, key[1], key[2]
end

local orgCounters = { 'usedOperations', 'usedTasks', 'usedAgents' }

--- `unlimited` says that the plan sets no limit of those that calls look at, so that they need not be read.
local function readOrg()
  local org = redis.call('HMGET', keys.org(), 'nextDue', 'unlimited', unpack(orgCounters))
  orgRead, timer.nextDue = true, tonumber(org[1]) or math.huge
  count.know('org', orgCounters, org, 2)
  orgQuota, hardStop, planTasks, planAgents = false, nil, nil, nil
  if org[2] == '1' then return end
  local plan = redis.call('HMGET', keys.org(), 'rpm', 'requestsMinute', 'usedRequests', 'plan', 'operations', 'operationsMonth',
    'tasks', 'agents', 'usedRecovery')
  orgQuota = tonumber(plan[1]) or false
  if orgQuota then
    -- What an ordinary call may use: a fifth is kept for recovery calls.
    orgShare = math.max(1, math.floor(orgQuota * 0.8))
    sameOrgMinute = plan[2] == minute
    orgUsed = sameOrgMinute and tonumber(plan[3]) or 0
    orgRecovered = sameOrgMinute and tonumber(plan[9]) or 0
  end
  hardStop = plan[4] == 'free' and tonumber(plan[5])
  usage.operations = hardStop and plan[6] == usage.month() and tonumber(org[3]) or 0
  planTasks, planAgents = tonumber(plan[7]), tonumber(plan[8])
  usedTasks, usedAgents = tonumber(org[4]) or 0, tonumber(org[5]) or 0
end

--- Writes what the run has gathered for the space it leaves.
local function leaveSpace()
  local nextSpaceId = spaceId
  spaceId = spaceRead
  count.writeSpace()
  journal.publish()
  spaceId = nextSpaceId
end

--- A malformed spaceId arrives empty and finds no space; Node says what is wrong with it once the caller is known.
local function readSpace(...)
  spaceValues = redis.call('HMGET', keys.space(), 'requestsPerMinute', 'requestsMinute', 'usedRequests', 'usageDay', ...)
  spaceNames = { ... }
  count.know('space', spaceNames, spaceValues, 4)
  spaceRead, spaceQuota = spaceId, tonumber(spaceValues[1])
  if not spaceQuota then return end
  if orgQuota and orgQuota < spaceQuota then spaceQuota = orgQuota end
  sameSpaceMinute = spaceValues[2] == minute
  spaceUsed = sameSpaceMinute and tonumber(spaceValues[3]) or 0
  usage.day = spaceValues[4]
end

--- Key, permission, space and rates. Leaves the asked-for fields of the space's record in spaceValues, from the fifth;
--- scripts also ask for those that they are going to count.
local function admit(...)
  if keyRead ~= apiKeyDigest then readKey() end
  if not orgRead then readOrg() end
  again = spaceRead == spaceId
  if not again then
    if spaceRead then leaveSpace() end
    readSpace(...)
  end
  beforeRefusal = note
  if not string.find(permissions, permission, 1, true) then refuse('PERMISSION_DENIED', permission) end
  if keySpaces ~= '' and not string.find(keySpaces, spaceId, 1, true) then refuse('PERMISSION_DENIED', 'space') end
  if not spaceQuota then refuse('SPACE_NOT_FOUND') end
  if rateClass ~= 'held' and orgQuota and (rateClass == 'recovery' and orgQuota - orgUsed or orgLeft()) <= 0 then
    refuse('SERVICE_RATE_LIMITED')
  end
  if rateClass == 'ordinary' and spaceUsed >= spaceQuota then refuse('RATE_LIMITED') end
end

--- Counts the request; from here on a refusal is counted too, and writes nothing else. A held request that looks
--- again is not a new request.
local function charge(requests)
  if rateClass == 'held' then return end
  spaceUsed = spaceUsed + requests
  local set = count.setSpace
  set.usedRequests = string.format('%d', spaceUsed)
  if not sameSpaceMinute then set.requestsMinute = minute end
  if orgQuota then
    orgUsed = orgUsed + requests
    set = count.setOrg
    set.usedRequests = string.format('%d', orgUsed)
    if rateClass == 'recovery' then orgRecovered = orgRecovered + requests end
    if rateClass == 'recovery' or not sameOrgMinute then set.usedRecovery = string.format('%d', orgRecovered) end
    if not sameOrgMinute then set.requestsMinute = minute end
  end
end

--- The asked-for fields, from the `first` on, as they are now: what earlier requests of the run gathered is not in the
--- record yet.
local function asked(first)
  local amount = #spaceNames
  if not again then return unpack(spaceValues, 4 + first, 4 + amount) end
  local values, changes, set = {}, count.space, count.setSpace
  for i = first, amount do
    local name, value = spaceNames[i], spaceValues[4 + i]
    local change = changes[name]
    values[i] = set[name] or change and (value or 0) + change or value
  end
  return unpack(values, first, amount)
end

--- For scripts that change nothing. Returns the asked-for fields of the space's record.
function call.read(...)
  admit(...)
  charge(1)
  return asked(1)
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
  admit(usage.operationsOf(callName), ...)
  if timer.nextDue <= (tonumber(drainedThrough) or now) then error({ err = 'DUE - ' }) end
  charge(1)
  if idempotencyDigest ~= '' then
    local first, answer = idempotency.find(idempotencyDigest)
    if first then
      if first ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
      usage.countUncounted()
      return { note('1'), unpack(answer) }
    end
  end
  return false, asked(2)
end

--- Sends the call back to Node, which finds out what the script asks for and calls again: it is not counted twice.
function call.sendBack(code)
  charge(-1)
  error({ err = code .. ' - ' })
end

--- Free plan only: refuses new work once the month's operations are used up. Never called by recovery calls.
function call.needOperation()
  if hardStop and usage.operations >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

--- Refuses one more active task (or claim) than the plan grants.
function call.needTask()
  if planTasks and usedTasks + (count.org.usedTasks or 0) >= planTasks then refuse('ACTIVE_TASKS_LIMITED', planTasks) end
end

function call.needAgent()
  if planAgents and usedAgents + (count.org.usedAgents or 0) >= planAgents then refuse('CONCURRENCY_LIMITED', planAgents) end
end

local function remember(...)
  if idempotencyDigest ~= '' then idempotency.keep(idempotencyDigest, fingerprint, ...) end
end

--- The answer of a call that changed something: one operation.
function call.done(...)
  usage.countOperation(callName)
  remember(...)
  return { note(), ... }
end

--- The answer of a call that found everything as asked for already: no operation.
function call.unchanged(...)
  remember(...)
  return { note(), ... }
end

--- The answer of a renewal, a natural replay or an empty poll: a syscall, no operation.
function call.uncounted(...)
  usage.countUncounted()
  remember(...)
  return { note(), ... }
end

--- The answer of a read.
function call.answer(...)
  return { note(), ... }
end
