--- What every request goes through, inside the script that makes its change (contract section 2): API key,
--- permission, space, rates, due timers, idempotent replay; and at the end counters, usage, journal wake-up and the
--- idempotency record. A script opens with call.open or call.read and returns call.done, .unchanged, .uncounted or
--- .answer. Requests of an organization that arrive together may share a run: each is all or nothing by itself, but
--- the records of key, organization and space are read once and written once.
--- @args callName idempotencyDigest fingerprint drainedThrough
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
--- The key of the space that was read last; what was asked for of its record, and whether for an earlier request.
local here, names, values, again
--- Where the arguments of the request at hand stand; how many changes there were when it had been counted; the errors of
--- those that an earlier attempt of this run refused; whether it is sent back.
local request, counted, refusals, isSentBack

function call.begin()
  here = nil
end

--- The first element of every reply and the second word of every refusal: what Node makes headers of. As one text,
--- which costs less than seven values do. replayed: '1', or nothing.
local function note(replayed)
  return nowText .. ',' .. timer.wake .. ',' .. (replayed or '') .. ',' .. rates.left()
end

--- pcall hands on an error's text: a refusal as it is, anything else is a defect.
local function failure(text)
  return string.find(text, '^%u[%u_]+ ') and text or 'ERR ' .. text
end

--- Runs the script's body for each request and writes what they gathered. A single request is answered by itself, and
--- refused by an error; of several, a list is answered, where a refusal is an error. listOf: makes the list that travels
--- of a reply. begin: lets the run begin anew, which is what a refusal takes that comes after changes: in the next attempt
--- the request is refused as soon as it has been counted, and leaves nothing else behind.
function call.serve(args, width, body, listOf, begin)
  call.listOf, refusals = listOf, {}
  local replies, first = {}, 0
  while first < #args do
    request, counted, isSentBack = first, changes, false
    local ok, reply = pcall(body, args, first)
    if not ok then reply = { err = failure(reply) } end
    if not ok and changes > counted and not refusals[first] then
      refusals[first] = { err = reply.err, isSentBack = isSentBack }
      begin()
      replies, first = {}, 0
    else
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

--- Reads the named fields of the space's record. A malformed spaceId arrives empty and finds no space; Node says what
--- is wrong with it once the caller is known.
local function enter(...)
  local key = keys.space()
  again = here == key
  if again then return end
  count.enter()
  here, names = key, { 'requestsPerMinute', 'requestsMinute', 'usedRequests', 'usageDay', 'number', ... }
  values = redis.call('HMGET', key, unpack(names))
  local space = { false, false, false, false, false, false, false, false, n = 0, key = key, requestsPerMinute = values[1],
    requestsMinute = values[2], usedRequests = values[3], usageDay = values[4],
    [names[6] or 6] = values[6], [names[7] or 7] = values[7], [names[8] or 8] = values[8], [names[9] or 1] = values[9],
    [names[10] or 2] = values[10] }
  for i = 11, #names do space[names[i]] = values[i] end
  records.keep(space)
  keyspace.enter(values[5])
  rates.ofSpace(space)
  usage.space = space
end

--- The named fields, from the `first` on, as they are now.
local function asked(first)
  if not again then return unpack(values, 5 + first, #names) end
  local current = {}
  for i = 5 + first, #names do current[i] = count.ofSpace(usage.space, names[i]) end
  return unpack(current, 5 + first, #names)
end

--- Key, permission, space and rates. Takes the fields of the space's record that the script asks for: also those that
--- it is going to count.
local function admit(...)
  caller.identify()
  plan.read()
  enter(...)
  beforeRefusal = note
  caller.authorize()
  if not rates.quota() then refuse('SPACE_NOT_FOUND') end
  rates.check()
end

--- For scripts that change nothing. Returns the asked-for fields of the space's record.
function call.read(...)
  admit(...)
  rates.charge(1)
  counted = changes
  return asked(1)
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
--- false and the asked-for fields of the space's record. What is due comes first: the script answers DUE, nothing
--- written, Node has timer/sweep make it real and calls again. `drainedThrough` is the moment of that sweep; only
--- what was due by then can send the call back, so a call gets through however fast timers fall due.
function call.open(...)
  admit(usage.operationsOf(callName), ...)
  if timer.nextDue <= (tonumber(drainedThrough) or now) then error({ err = 'DUE - ' }) end
  rates.charge(1)
  counted = changes
  local refused = refusals[request]
  if refused then
    if refused.isSentBack then rates.charge(-1) end
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
  return false, asked(2)
end

--- Sends the call back to Node, which finds out what the script asks for and calls again: it is not counted twice.
function call.sendBack(code)
  local isUnchanged = changes == counted
  rates.charge(-1)
  isSentBack = true
  if isUnchanged then counted = changes end
  error({ err = code .. ' - ' })
end

--- The answer of a read: the list that travels of a reply, behind the note; of no reply, the note alone.
function call.answer(reply)
  local list = reply and call.listOf(reply) or { '' }
  list[1] = note()
  return list
end

--- The answer of a call that found everything as asked for already: no operation.
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
