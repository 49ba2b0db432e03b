--- What every request goes through, inside the script that makes its change (contract section 2): API key,
--- permission, space, rates, due timers, idempotent replay; and at the end counters, usage, journal wake-up and the
--- idempotency record. A script opens with call.open or call.read and returns call.done, .unchanged or .uncounted.
--- @args apiKeyDigest permission spaceId rateClass callName idempotencyDigest fingerprint requestId drainedThrough
--- @include "lib/clock"
--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/journal"
--- @include "lib/date"
local call = { today = dateOf(now) }
local minute = math.floor(now / 60000)
local spaceQuota, spaceUsed, orgQuota, orgUsed, operations, hardStop
local replayWindowMs = 86400000

--- The first element of every reply and the second word of every refusal: what Node makes headers of.
local function note(replayed)
  return table.concat({ now, timer.wake, replayed or '',
    spaceQuota or '', spaceQuota and math.max(0, spaceQuota - spaceUsed) or '',
    orgQuota or '', orgQuota and math.max(0, math.max(1, math.floor(orgQuota * 0.8)) - orgUsed) or '' }, ',')
end

--- Counts the request; from here on a refusal is counted too, and writes nothing else.
local function charge()
  spaceUsed = spaceUsed + 1
  local set = count.setSpace
  set[#set + 1], set[#set + 2], set[#set + 3], set[#set + 4] = 'requestsMinute', minute, 'usedRequests', spaceUsed
  if orgQuota then
    orgUsed = orgUsed + 1
    set = count.setOrg
    set[#set + 1], set[#set + 2], set[#set + 3], set[#set + 4] = 'requestsMinute', minute, 'usedRequests', orgUsed
  end
  beforeRefusal = function()
    count.space, count.org = {}, {}
    count.write()
    return note()
  end
end

--- Key, permission, space and rates. Returns the further fields of the space's record that were asked for.
local function admit(...)
  local key = redis.call('HMGET', keys.apiKey(apiKeyDigest), 'permissions', 'spaces', 'revokedAt')
  if not key[1] or key[3] then refuse('INVALID_API_KEY') end
  local org = redis.call('HMGET', keys.org(), 'rpm', 'requestsMinute', 'usedRequests', 'nextDue', 'plan', 'operations',
    'operationsMonth', 'usedOperations')
  -- A malformed spaceId arrives empty and finds no space; Node says what is wrong with it once the caller is known.
  local space = redis.call('HMGET', keys.space(), 'requestsPerMinute', 'requestsMinute', 'usedRequests', ...)
  orgQuota = tonumber(org[1])
  orgUsed = tonumber(org[2]) == minute and tonumber(org[3]) or 0
  if space[1] then
    spaceQuota = math.min(tonumber(space[1]), orgQuota or math.huge)
    spaceUsed = tonumber(space[2]) == minute and tonumber(space[3]) or 0
  end
  beforeRefusal = note
  if not string.find(key[1], permission, 1, true) then refuse('PERMISSION_DENIED', permission) end
  if key[2] ~= '' and not string.find(key[2], spaceId, 1, true) then refuse('PERMISSION_DENIED', 'space') end
  if not space[1] then refuse('SPACE_NOT_FOUND') end
  if orgQuota and orgUsed >= (rateClass == 'recovery' and orgQuota or math.max(1, math.floor(orgQuota * 0.8))) then
    refuse('SERVICE_RATE_LIMITED')
  end
  if rateClass == 'ordinary' and spaceUsed >= spaceQuota then refuse('RATE_LIMITED') end

  timer.nextDue = tonumber(org[4]) or math.huge
  operations = org[7] == string.sub(call.today, 1, 7) and tonumber(org[8]) or 0
  hardStop = org[5] == 'free' and tonumber(org[6])
  return unpack(space, 4, 3 + select('#', ...))
end

local function finish(replayed, ...)
  count.write()
  journal.publish()
  return { note(replayed), ... }
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
  local fields = { admit(...) }
  if timer.nextDue <= (tonumber(drainedThrough) or now) then error({ err = 'DUE - ' }) end
  charge()
  if idempotencyDigest ~= '' then
    local record = redis.call('GET', keys.idempotency(idempotencyDigest))
    if record and now - tonumber(string.sub(record, 23, 35)) < replayWindowMs then
      if string.sub(record, 1, 22) ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
      redis.call('HINCRBY', keys.usage(call.today), 'uncounted', 1)
      return finish('1', unpack(cmsgpack.unpack(string.sub(record, 36))))
    end
  end
  return false, unpack(fields, 1, select('#', ...))
end

--- Free plan only: refuses new work once the month's operations are used up. Never called by recovery calls.
function call.needOperation()
  if hardStop and operations >= hardStop then refuse('OPERATIONS_EXHAUSTED', hardStop) end
end

local function remember(...)
  if idempotencyDigest ~= '' then
    redis.call('SET', keys.idempotency(idempotencyDigest), fingerprint .. string.format('%013d', now) .. cmsgpack.pack({ ... }),
      'PX', replayWindowMs)
  end
end

--- The answer of a call that changed something: one operation.
function call.done(...)
  redis.call('HINCRBY', keys.usage(call.today), callName, 1)
  local set = count.setOrg
  set[#set + 1], set[#set + 2], set[#set + 3], set[#set + 4] =
    'operationsMonth', string.sub(call.today, 1, 7), 'usedOperations', operations + 1
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
  redis.call('HINCRBY', keys.usage(call.today), 'uncounted', 1)
  remember(...)
  return finish(nil, ...)
end

--- For scripts that change nothing. Returns the asked-for fields of the space's record.
function call.read(...)
  local fields = { admit(...) }
  charge()
  return unpack(fields, 1, select('#', ...))
end

--- The answer of a read.
function call.answer(...)
  return finish(nil, ...)
end
