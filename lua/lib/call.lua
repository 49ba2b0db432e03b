--- The steps of every request, inside the script that makes its change: API key, permission, space, rates, due timers
--- and idempotent replay; at the end counters, usage, journal wake-up and the idempotency record. The loader puts
--- `call.open` in front of a script with `@request`; the script returns `call.answer`. Each request of an invocation is
--- atomic by itself (lib/serve), but the invocation reads and writes the records of API key, organization and space
--- only once.
--- @shared callName sweptThrough
--- @args idempotencyDigest fingerprint openedMessages
--- @export call
--- @include lib/caller lib/clock lib/closing lib/count lib/guards lib/idempotency lib/invocation lib/plan lib/rates
--- @include lib/records lib/refuse lib/space lib/timer lib/unit lib/usage
local call = {}

--- The first element of every reply and the second word of every refusal. Node turns it into headers. One text costs
--- less than seven values. replayed: '1' or nil.
local function head(replayed)
  local quota, left, ofOrg = rates.left()
  return nowText .. ',' .. timer.wake .. ',' .. (replayed or '') .. ',' .. quota .. left .. ofOrg
end

--- Enters the request's space and reads the fields of its record that the script needs. A malformed spaceId arrives as
--- '' and finds no space; Node explains the error once the caller is known.
local function enterSpace(script)
  if invocation.enteredId == spaceId then
    if invocation.enteredFor ~= script then
      records.fill(keyspace.record, script.fields)
      invocation.enteredFor = script
    end
    return
  end
  count.enter()
  local record = script.readSpace(keys.space(spaceId), usage.operationsOf(callName))
  records.keep(record)
  invocation.enteredId, invocation.enteredFor = spaceId, script
  keyspace.enter(record.number, record)
  rates.ofSpace(record)
end

--- The answer of the earlier request with the same Idempotency-Key; nil if there is none.
local function replay()
  local first, answer = idempotency.find(idempotencyDigest)
  if not first then return nil end
  if first ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
  if keyspace.record then usage.countUncounted() end
  answer[1] = head('1')
  return answer
end

--- Checks the API key, its permission and the space, once for consecutive requests with the same shared arguments
--- (lib/serve).
local function admit(script)
  local kind = script.kind
  if script.isLinked then caller.identifyLink() elseif kind ~= 'worker' then caller.identify() end
  plan.read()
  if kind == 'org' then rates.ofNoSpace() else enterSpace(script) end
  if kind ~= 'worker' then invocation.head = head end
  if kind ~= 'worker' then
    if not script.isLinked then caller.authorize() end
    if kind ~= 'org' and not rates.quota() then refuse('SPACE_NOT_FOUND') end
  end
  invocation.isAdmitted = true
end

--- Opens the request according to its script's `@request`: `write` changes something; `read` changes nothing and
--- ignores due timers; `org` needs no space; `worker` comes from a worker, without API key or rates. If the request
--- repeats an earlier one, returns the earlier answer, else nil. The fields that the script names with `@space` are
--- then in keyspace.record. The arguments are those with a guard; the loader adds them.
function call.open(...)
  local kind = invocation.script.kind
  local isWorker, isWrite = kind == 'worker', kind == 'write'
  if not invocation.isAdmitted then admit(invocation.script) end
  if rateClass == 'operator' then rates.forOperator(string.find(caller.permissions(), 'resource_config', 1, true)) end
  if not isWorker then rates.check() end
  if isWrite or isWorker then
    -- Due timers come first: Node runs timer/sweep and calls again. `sweptThrough` is the time of that sweep. Only
    -- timers due by then send the call back again, so it gets through however fast timers fall due.
    if timer.nextDue <= (sweptThrough == '' and now or tonumber(sweptThrough)) then error({ err = 'DUE - ' }) end
    if invocation.sentBackError and invocation.sentBackId == requestId and requestId ~= '' then
      error({ err = invocation.sentBackError })
    end
  end
  -- From here on a refusal is counted, but writes nothing else.
  if not isWorker then rates.charge(1) end
  invocation.changesBeforeCount = unit.changes()
  -- Repeats the refusal of an earlier attempt of the invocation.
  local refused = invocation.refusals[invocation.position]
  if refused then
    invocation.isSentBack = refused.isSentBack
    error({ err = refused.err })
  end
  local limits = invocation.limits
  if limits and limits.isGuarded then guard(invocation.script.guarded, ...) end
  return idempotencyDigest ~= '' and replay() or nil
end

--- Ends the request. reply: the members of `@reply`, or nil. counts: `operation`; `syscall` for a renewal, a natural
--- replay or an empty poll; nil for a read or a call that changed nothing; `unfinished` if Node does its part and calls
--- again, in which case this answer is not stored for replays.
function call.answer(reply, counts)
  if invocation.closing and not invocation.isAtomic then closing.run(now) end
  if counts == 'operation' then
    usage.countOperation(callName)
  elseif counts == 'syscall' then
    usage.countUncounted()
  end
  local list = reply and invocation.script.list(reply) or { '' }
  if idempotencyDigest ~= '' and counts ~= 'unfinished' then idempotency.keep(idempotencyDigest, fingerprint, list) end
  list[1] = head()
  -- For the log.
  if acted then list[1] = list[1] .. ',' .. caller.said() end
  return list
end
