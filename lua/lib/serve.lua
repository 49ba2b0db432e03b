--- @export serve redisCall redisQuery
--- @include lib/clock lib/day lib/query lib/rates lib/invocation lib/space lib/timer lib/unit
--- How every function of the library begins and ends. An invocation takes a list of calls, each with the arguments of its
--- script, and replies with a list. Calls of one script that arrive together are the simplest case.
local serve = {}
local redisCall, redisQuery

local function start(org)
  -- Everywhere else the loader makes a variable of it, which is faster than two tables.
  redisCall = redis['call']
  redisQuery = query.reader()
  invocations.start(org)
  clock.start()
  day.start()
  keyspace.leave()
  timer.start()
  unit.start()
end

--- pcall returns the text of an error: a refusal is passed on as it is, anything else is a bug.
local function failure(text)
  return string.find(text, '^%u[%u_]+ ') and text or 'ERR ' .. text
end

--- Carries out one request. Returns its reply, or an error and true. A request that is sent back is not counted. An empty
--- text of shared arguments says that they are those of the request before.
local function attempt(script, args, offset, at)
  invocation.script, invocation.at, invocation.counted, invocation.isSentBack = script, at, false, false
  local shared = args[offset + 1]
  if shared ~= '' then
    script.share(shared)
    invocation.isAdmitted, invocation.note = false, false
  end
  local ok, reply = pcall(script.body, args, offset)
  if ok then return reply end
  reply = { err = failure(reply) }
  if invocation.isSentBack then
    local isUnchanged = invocation.counted == unit.changes()
    if not invocation.isWhole then rates.charge(-1) end
    if isUnchanged then invocation.counted = unit.changes() end
    invocation.heldError, invocation.heldId = reply.err, requestId
  end
  return reply, true
end

--- Before the next request of the invocation.
local function proceed()
  clock.step()
  timer.forgetWake()
end

--- Carries out requests from `first` on, all of one script or, if `script` is nil, each of the one that it names, and writes
--- the changes of all that were accepted. A request that is refused after it has made changes restarts the invocation; in
--- the next attempt it is refused as soon as it has been counted, so that nothing else of it remains.
local function each(org, scripts, script, args, first)
  local refusals, replies, at = {}, {}, first
  start(org)
  invocation.refusals = refusals
  while at < #args do
    local one, offset = script, at
    if not one then one, offset = scripts[args[at + 1]], at + 1 end
    local reply, isRefused = attempt(one, args, offset, at)
    if isRefused and invocation.counted and unit.changes() > invocation.counted and not refusals[at] then
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

--- The same, but where one call is refused none happens: the reply is then its error and its place in the list, from 0 on.
--- Nothing is written but that one request was counted; nor is that if the call was sent back.
local function whole(org, scripts, args, first)
  local replies, at = {}, first
  start(org)
  invocation.isWhole, invocation.refusals = true, {}
  while at < #args do
    local one, offset = scripts[args[at + 1]], at + 1
    local reply, isRefused = attempt(one, args, offset, at)
    if isRefused then
      local isSentBack = invocation.isSentBack
      start(org)
      if not isSentBack then
        invocation.isWhole, invocation.refusals = true, { [at] = { err = reply.err } }
        attempt(one, args, offset, at)
        unit.write()
      end
      return { reply, #replies }
    end
    replies[#replies + 1], at = reply, offset + one.width
    if at < #args then proceed() end
  end
  unit.write()
  return replies
end

--- Calls of one script that answers requests. A single call gets its own reply or error; several get a list in which a
--- refusal is an error.
function serve.requests(script, org, args)
  local replies = each(org, nil, script, args, 0)
  if #args > script.width then return replies end
  if replies[1].err then error(replies[1]) end
  return replies[1]
end

--- Calls of several scripts, each with the script's name in front of its arguments. The first argument is 1 if the
--- invocation is to be refused as a whole.
function serve.mixed(scripts, org, args)
  if args[1] == '1' then return whole(org, scripts, args, 1) end
  return each(org, scripts, nil, args, 1)
end

--- A script of workers or of the command line: it writes its changes by itself.
function serve.script(script, org, args)
  start(org)
  local reply = script.body(args, 0)
  return reply and script.list(reply) or {}
end
