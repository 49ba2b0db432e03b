--- The steps of every request, inside the script that makes its change: API key, permission, space, rates, due timers
--- and idempotent replay; at the end counters, usage, journal wake-up and the idempotency record. The loader puts
--- `call.open` in front of a script that says `@request`; the script returns `call.answer`. Of the requests of an invocation
--- each is atomic by itself (lib/serve), but the records of the API key, the organization and the space are read once and
--- written once.
--- @shared callName drainedThrough
--- @args idempotencyDigest fingerprint unpacked
--- @export call
--- @include lib/caller lib/clock lib/count lib/guards lib/idempotency lib/plan lib/rates lib/records lib/refuse lib/invocation
--- @include lib/space lib/timer lib/unit lib/usage
local call = {}

--- The first element of every reply and the second word of every refusal, which Node turns into headers. One text costs
--- less than seven values. replayed: '1' or nil.
local function note(replayed)
  local quota, left, ofOrg = rates.left()
  return nowText .. ',' .. timer.wake .. ',' .. (replayed or '') .. ',' .. quota .. left .. ofOrg
end

--- Turns to the request's space and reads the fields of its record that the script needs. A malformed spaceId arrives empty
--- and finds no space; Node explains what is wrong with it once the caller is known.
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

--- The answer of an earlier request with the same Idempotency-Key; nil if there is none.
local function replay()
  local first, answer = idempotency.find(idempotencyDigest)
  if not first then return nil end
  if first ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
  if keyspace.record then usage.countUncounted() end
  answer[1] = note('1')
  return answer
end

--- Checks what the request shares with others: the key, what it may do, the space. Once for all requests of the invocation
--- that follow one another with the same shared arguments (lib/serve).
local function admit(script)
  local kind = script.kind
  if script.isLinked then caller.identifyLink() elseif kind ~= 'worker' then caller.identify() end
  plan.read()
  if kind == 'org' then rates.ofNoSpace() else enterSpace(script) end
  if kind ~= 'worker' then invocation.note = note end
  if kind ~= 'worker' then
    if not script.isLinked then caller.authorize() end
    if kind ~= 'org' and not rates.quota() then refuse('SPACE_NOT_FOUND') end
  end
  invocation.isAdmitted = true
end

--- Opens the request as the header of its script says (`@request`): `write` changes something; `read` changes nothing and
--- minds no timers; `org` is about what belongs to no space; `worker` is made by workers, with neither an API key nor rates.
--- Returns the answer of an earlier request that this one repeats, else nil; what the script asked for of the space's record
--- (`@space`) is in keyspace.record. first, second: its arguments that have guards, which the loader puts there.
function call.open(first, second)
  local kind = invocation.script.kind
  local isWorker, isWrite = kind == 'worker', kind == 'write'
  if not invocation.isAdmitted then admit(invocation.script) end
  if not isWorker then rates.check() end
  if isWrite or isWorker then
    -- Due timers come first: Node runs timer/sweep and calls again. `drainedThrough` is the time of that sweep: only timers due
    -- by then send the call back again, so it gets through however fast timers fall due.
    if timer.nextDue <= (drainedThrough == '' and now or tonumber(drainedThrough)) then error({ err = 'DUE - ' }) end
    if invocation.heldError and invocation.heldId == requestId and requestId ~= '' then error({ err = invocation.heldError }) end
  end
  -- From here on a refusal is counted, but writes nothing else.
  if not isWorker then rates.charge(1) end
  invocation.counted = unit.changes()
  -- What an earlier attempt of the invocation refused is refused again.
  local refused = invocation.refusals[invocation.at]
  if refused then
    invocation.isSentBack = refused.isSentBack
    error({ err = refused.err })
  end
  local limits = invocation.limits
  if limits and limits.isGuarded then guard(invocation.script.guarded, first, second) end
  return idempotencyDigest ~= '' and replay() or nil
end

--- What the call has changed so far stays, even if it is sent back.
function call.keep()
  if invocation.isWhole then error('an invocation that is refused as a whole keeps nothing') end
  invocation.counted = unit.changes()
end

--- Ends the request. reply: the members of `@reply`, or nil. counts: `operation`, or `syscall` for a renewal, a natural
--- replay and an empty poll; nil for a read and for a call that had nothing to change. `unfinished`: Node does its part and
--- calls again, so this is no answer yet that could be replayed.
function call.answer(reply, counts)
  if counts == 'operation' then
    usage.countOperation(callName)
  elseif counts == 'syscall' then
    usage.countUncounted()
  end
  local list = reply and invocation.script.list(reply) or { '' }
  if idempotencyDigest ~= '' and counts ~= 'unfinished' then idempotency.keep(idempotencyDigest, fingerprint, list) end
  list[1] = note()
  return list
end
