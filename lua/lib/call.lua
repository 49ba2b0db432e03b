--- The steps of every request, inside the script that makes its change: API key, permission, space, rates, due timers
--- and idempotent replay; at the end counters, usage, journal wake-up and the idempotency record. A script starts with
--- call.open or call.read and returns call.done, .unchanged, .uncounted or .answer. Requests of one organization that
--- arrive together may share a run: each is atomic by itself, but the records of the API key, the organization and the
--- space are read once and written once per run.
--- @args callName idempotencyDigest fingerprint drainedThrough unpacked
--- @around call.serve
--- @include "lib/clock"
--- @include "lib/refuse"
--- @include "lib/unit"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/usage"
--- @include "lib/idempotency"
--- @include "lib/caller"
--- @include "lib/rates"
--- @include "lib/plan"
local call = {}
--- The space that was read last, the fields read of its record, and whether an earlier request of the run read them.
local openId, fieldNames, fieldValues, isOpen
--- Where the arguments of the current request start; the number of changes when it had been counted; the errors of the
--- requests that an earlier attempt of this run refused; whether this one is sent back.
local request, counted, refusals, isSentBack
--- call.heldError: the error that sent a request back; call.heldId: that request's id. The calls of a batch have the same,
--- and those behind it wait until it is done.

function call.begin()
  openId = nil
end

--- The first element of every reply and the second word of every refusal, which Node turns into headers. One text costs
--- less than seven values. replayed: '1' or nil.
local function note(replayed)
  return nowText .. ',' .. timer.wake .. ',' .. (replayed or '') .. ',' .. rates.left()
end

--- pcall returns the text of an error: a refusal is passed on as it is, anything else is a bug.
local function failure(text)
  return string.find(text, '^%u[%u_]+ ') and text or 'ERR ' .. text
end

--- Runs the script's body for each request, then writes the changes of all of them. A single request gets its own reply or
--- error; several get a list in which a refusal is an error. listOf: turns a reply into the list that is sent. begin:
--- restarts the run. A request that is refused after it made changes restarts the run; in the next attempt it is refused
--- as soon as it has been counted, so that nothing else of it remains.
function call.serve(args, width, body, listOf, begin)
  call.listOf, refusals, call.heldError = listOf, {}, nil
  local replies, first = {}, 0
  while first < #args do
    request, counted, isSentBack = first, changes, false
    local ok, reply = pcall(body, args, first)
    if not ok then reply = { err = failure(reply) } end
    if not ok and changes > counted and not refusals[first] then
      refusals[first] = { err = reply.err, isSentBack = isSentBack }
      begin()
      replies, first, call.heldError = {}, 0, nil
    else
      if isSentBack then call.heldError, call.heldId = reply.err, requestId end
      replies[#replies + 1], first = reply, first + width
      if first < #args then
        clock.step()
        timer.wake, beforeRefusal = '', nil
      end
    end
  end
  unit.write()
  if #args > width then return replies end
  if replies[1].err then error(replies[1]) end
  return replies[1]
end

--- Reads the named fields of the space's record. A malformed spaceId arrives empty and finds no space; Node explains
--- what is wrong with it once the caller is known.
local function enter(...)
  isOpen = openId == spaceId
  if isOpen then return end
  local key = keys.space()
  count.enter()
  openId, fieldNames = spaceId, { 'requestsPerMinute', 'requestsMinute', 'usedRequests', 'usageDay', 'number', ... }
  local names, values = fieldNames, redis.call('HMGET', key, unpack(fieldNames))
  fieldValues = values
  -- Counters and limits are made numbers once, not by each request of the run.
  local numbers = {}
  for i = 6, #names do numbers[i] = tonumber(values[i]) or values[i] end
  local space = { false, false, false, false, false, false, false, false, n = 0, key = key, requestsPerMinute = values[1],
    requestsMinute = values[2], usedRequests = values[3], usageDay = values[4],
    [names[6] or 6] = numbers[6], [names[7] or 7] = numbers[7], [names[8] or 8] = numbers[8], [names[9] or 1] = numbers[9],
    [names[10] or 2] = numbers[10] }
  for i = 11, #names do space[names[i]] = numbers[i] end
  records.keep(space)
  keyspace.enter(values[5])
  rates.ofSpace(space)
  usage.space = space
end

--- The current values of the fields that the script named, from the `first` one on.
local function requestedFields(first)
  if not isOpen then return unpack(fieldValues, 5 + first, #fieldNames) end
  local current = {}
  for i = 5 + first, #fieldNames do current[i] = count.ofSpace(usage.space, fieldNames[i]) end
  return unpack(current, 5 + first, #fieldNames)
end

--- Checks API key, permission, space and rates. Takes the fields of the space's record that the script needs, including
--- the counters it is going to change.
local function admit(...)
  caller.identify()
  plan.read()
  enter(...)
  beforeRefusal = note
  caller.authorize()
  if not rates.quota() then refuse('SPACE_NOT_FOUND') end
  rates.check()
end

--- For scripts that change nothing. Returns the requested fields of the space's record.
function call.read(...)
  admit(...)
  rates.charge(1)
  counted = changes
  return requestedFields(1)
end

--- For reads of the organization, which any of its keys may make.
function call.readOrg()
  caller.identify()
  plan.read()
  rates.ofNoSpace()
  beforeRefusal = note
  rates.check()
  rates.charge(1)
  counted = changes
end

--- For scripts that change something. Returns the answer of an earlier request with the same Idempotency-Key, or
--- false and the requested fields of the space's record. Due timers come first: the script replies DUE without writing
--- anything, Node runs timer/sweep and calls again. `drainedThrough` is the time of that sweep; only timers due by then
--- send the call back again, so it gets through however fast timers fall due.
function call.open(...)
  local replay = call.start(...)
  if replay then return replay end
  return false, requestedFields(2)
end

--- The same for scripts that look the fields up in usage.space and with count.ofSpace: returns the earlier answer, or
--- false. Handing over what nobody takes costs each request of a run.
function call.start(...)
  admit(usage.operationsOf(callName), ...)
  if timer.nextDue <= (tonumber(drainedThrough) or now) then error({ err = 'DUE - ' }) end
  if call.heldError and call.heldId == requestId and requestId ~= '' then error({ err = call.heldError }) end
  rates.charge(1)
  counted = changes
  local refused = refusals[request]
  if refused then
    if refused.isSentBack then
      isSentBack = true
      rates.charge(-1)
    end
    error({ err = refused.err })
  end
  if idempotencyDigest ~= '' then
    local first, answer = idempotency.find(idempotencyDigest)
    if first then
      if first ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
      usage.countUncounted()
      answer[1] = note('1')
      return answer
    end
  end
  return false
end

--- For scripts of workers that make what a call makes: with neither an API key nor rates. As call.open otherwise.
function call.enter(...)
  plan.read()
  enter(usage.operationsOf(callName), ...)
  if timer.nextDue <= (tonumber(drainedThrough) or now) then error({ err = 'DUE - ' }) end
  counted = changes
  local refused = refusals[request]
  if refused then error({ err = refused.err }) end
end

--- Sends the call back to Node, which finds out what the script asks for and calls again: it is not counted twice.
--- timerName: of the background timer that must come first, if it is one.
function call.sendBack(code, timerName)
  local isUnchanged = changes == counted
  rates.charge(-1)
  isSentBack = true
  if isUnchanged then counted = changes end
  error({ err = code .. ' - ' .. (timerName or '') })
end

--- For records that are packed: sends the call back for them, and says what Node has unpacked for it.
function records.ask(wanted)
  call.sendBack('PACKED', wanted)
end

function records.given()
  return unpacked
end

--- What the call has changed so far stays, even if it is sent back.
function call.keep()
  counted = changes
end

--- The answer of a read: the note, then the reply if there is one.
function call.answer(reply)
  local list = reply and call.listOf(reply) or { '' }
  list[1] = note()
  return list
end

--- The answer of a call that had nothing to change: not an operation.
function call.unchanged(reply)
  local list = reply and call.listOf(reply) or { '' }
  if idempotencyDigest ~= '' then idempotency.keep(idempotencyDigest, fingerprint, list) end
  list[1] = note()
  return list
end

--- The answer of a call that changed something: one operation.
function call.done(reply)
  usage.countOperation(callName)
  return call.unchanged(reply)
end

--- The answer of a renewal, a natural replay or an empty poll: a syscall, no operation.
function call.uncounted(reply)
  usage.countUncounted()
  return call.unchanged(reply)
end
