--- @export serve redisCall redisQuery
--- @include lib/answers lib/clock lib/closing lib/day lib/invocation lib/query lib/rates lib/space lib/timer lib/unit
--- How every function of the library begins and ends. An invocation takes a list of calls, each with its script's
--- arguments, and replies with a list. Calls of one script that arrive together are the simplest case.
local serve = {}
local redisCall, redisQuery

local function start(org)
  -- In all other files the loader replaces `redis.call` by this variable, which saves two table look-ups.
  redisCall = redis['call']
  redisQuery = query.reader()
  invocations.start(org)
  clock.start()
  day.start()
  keyspace.leave()
  timer.start()
  unit.start()
end

--- Turns a pcall error into a reply: a refusal stays as it is, anything else is a bug.
local function failure(text)
  return string.find(text, '^%u[%u_]+ ') and text or 'ERR ' .. text
end

--- Carries out one request. Returns its reply, or an error and true. A request that is sent back is not counted. If the
--- text of the shared arguments is empty, the previous request's apply. body: the function for a call of an atomic
--- batch that has terms; nil for the script's own.
local function attempt(script, args, offset, at, body)
  invocation.script, invocation.position = script, at
  invocation.changesBeforeCount, invocation.isSentBack = false, false
  local shared = args[offset + 1]
  if shared ~= '' then
    script.share(shared)
    invocation.isAdmitted, invocation.head = false, false
  end
  local ok, reply = pcall(body or script.body, args, offset)
  if ok then return reply end
  reply = { err = failure(reply) }
  if invocation.isSentBack then
    local isUnchanged = invocation.changesBeforeCount == unit.changes()
    if not invocation.isAtomic then rates.charge(-1) end
    if isUnchanged then invocation.changesBeforeCount = unit.changes() end
    invocation.sentBackError, invocation.sentBackId = reply.err, requestId
  end
  return reply, true
end

--- Prepares for the next request of the invocation.
local function proceed()
  clock.step()
  timer.forgetWake()
end

--- Carries out requests from `first` on and writes the changes of all that were accepted. All are of one script or, if
--- `script` is nil, each names its own. A request refused after it has made changes restarts the invocation; the next
--- attempt refuses it as soon as it is counted, so that none of its changes remain.
local function each(org, scripts, script, args, first)
  local refusals, replies, at = {}, {}, first
  start(org)
  invocation.refusals = refusals
  while at < #args do
    local one, offset = script, at
    if not one then one, offset = scripts[args[at + 1]], at + 1 end
    local reply, isRefused = attempt(one, args, offset, at)
    if isRefused and invocation.changesBeforeCount and unit.changes() > invocation.changesBeforeCount
        and not refusals[at] then
      refusals[at] = { err = reply.err, isSentBack = invocation.isSentBack }
      start(org)
      invocation.refusals = refusals
      replies, at = {}, first
    else
      replies[#replies + 1], at = reply, offset + one.width
      if at < #args then proceed() end
    end
  end
  unit.write()
  return replies
end

--- The body for a call of a batch that refers to earlier calls or expects certain members in its answer.
local function onTerms(script, text, replies)
  local terms = cjson.decode(text)
  return function(args, offset)
    args[offset + 2] = answers.refer(args[offset + 2], terms, replies)
    local reply = script.body(args, offset)
    if not answers.isRepeated() then answers.expect(reply, terms.expect) end
    return reply
  end
end

--- Refuses a whole invocation. Returns the error, with the current rates in its head, and the position of the call in
--- the list, from 0. Only one request is counted, and none if the caller was refused or the call sent back; nothing
--- else is written.
local function refused(org, script, args, first, err, place)
  local isCounted = invocation.changesBeforeCount and not invocation.isSentBack
  start(org)
  if isCounted then
    invocation.refusals = { [first] = { err = err } }
    attempt(script, args, first + 2, first)
    unit.write()
    -- An error that is a bug has no head.
    if not string.find(err, '^ERR ') then err = string.gsub(err, '^(%S+) %S+', '%1 ' .. invocation.head(), 1) end
  end
  return { { err = err }, place }
end

--- Like `each`, but one refusal refuses all calls. Between the name of its script and its arguments, each call has its
--- terms (lib/answers) or ''. maxBytes: limit of all replies together.
local function whole(org, scripts, args, first, maxBytes)
  local replies, at, bytes = {}, first, 0
  local opening = scripts[args[first + 1]]
  start(org)
  invocation.isAtomic, invocation.refusals = true, {}
  while at < #args do
    local script, terms, offset = scripts[args[at + 1]], args[at + 2], at + 2
    if script.kind == 'read' and answers.isRepeated() then
      replies[#replies + 1] = { '' }
    else
      local reply, isRefused = attempt(script, args, offset, at, terms ~= '' and onTerms(script, terms, replies) or nil)
      bytes = bytes + (isRefused and 0 or answers.bytes(reply))
      if bytes > maxBytes then
        reply, isRefused = { err = 'PAYLOAD_TOO_LARGE ' .. invocation.head() .. ' answers' }, true
      end
      if isRefused then return refused(org, opening, args, first, reply.err, #replies) end
      replies[#replies + 1] = reply
    end
    at = offset + script.width
    if at < #args then proceed() end
  end
  local isClosed, err = pcall(closing.run, now)
  if not isClosed then return refused(org, opening, args, first, failure(err), #replies - 1) end
  answers.keep(replies[1])
  unit.write()
  return replies
end

--- Calls of one script with `@request`. A single call gets its own reply or error; several get a list in which a
--- refusal is an error.
function serve.requests(script, org, args)
  local replies = each(org, nil, script, args, 0)
  if #args > script.width then return replies end
  if replies[1].err then error(replies[1]) end
  return replies[1]
end

--- Calls of several scripts, each with the script's name in front of its arguments. The first argument is '' or, if one
--- refusal refuses all calls, the maximum bytes of all replies together.
function serve.mixed(scripts, org, args)
  if args[1] ~= '' then return whole(org, scripts, args, 1, tonumber(args[1])) end
  return each(org, scripts, nil, args, 1)
end

--- A script of workers or of the command line. It writes its changes itself.
function serve.script(script, org, args)
  start(org)
  local reply = script.body(args, 0)
  return reply and script.list(reply) or {}
end
