--- Ends a claim until what it names is over: the message is BLOCKED, and its attempt is taken back. conditions: `m`,
--- `g` or `s` and the id of a message, group or scope, for each; noteKey, sinceVersion: another version than this one
--- of a note of noteScopeId ('' for the message's own), '' for no note; delaySeconds: a sleep; any '1': one of them is
--- enough; fails '1': the message fails after timeoutSeconds, else it continues; yieldsKey '1': the place of its key
--- passes on; progress: as for a renewal.
--- @request write
--- @args messageId token conditions noteScopeId noteKey sinceVersion delaySeconds any timeoutSeconds fails yieldsKey
--- @long progress
--- @reply message:suspendedMessage
--- @include lib/call lib/clock lib/closing lib/invocation lib/records lib/refuse mailbox/_claim mailbox/_keyed
--- @include mailbox/_message mailbox/_others mailbox/_prerequisite mailbox/_suspension mailbox/_view scope/_scope
-- The most suspensions of one message, so that a handler that goes in circles ends.
local maxSuspensions = 1000
local record = message.read(messageId)
checkClaim(record, token)
local outcome = record.groupId and members.decided(record)
if outcome then refuse('GROUP_DECIDED', outcome .. ' claim') end
if #progress > 4096 then refuse('PAYLOAD_TOO_LARGE', 'progress 4096') end
local code, detail = suspension.obstacle(record, conditions)
if code == 'VALIDATION_FAILED' then refuse('VALIDATION_FAILED', detail) end
if code then prerequisite.reject(code, detail) end
local suspensions = message.load(messageId, 'suspensions').suspensions
if suspensions >= maxSuspensions then refuse('SUSPENSIONS_FULL', maxSuspensions) end
local note
if noteKey ~= '' then
  note = { scopeId = noteScopeId ~= '' and noteScopeId or record.scopeId, key = noteKey, sinceVersion = sinceVersion }
  local path = scope.path(note.scopeId)
  scope.check(path)
  if not path then scope.create(note.scopeId) end
end
if yieldsKey == '1' then keyed.needOrder(record, now) end

records.set(record, 'suspensions', suspensions + 1)
if progress ~= '' then message.keep(record, 'progress', progress) end
local untilAt = delaySeconds ~= '' and now + 1000 * delaySeconds or nil
suspension.begin(record, conditions, note, untilAt, now + 1000 * timeoutSeconds, any == '1',
  fails == '1' and 'FAIL' or 'RETURN', yieldsKey == '1')

local function shown()
  return message.shown(message.load(messageId))
end

local list
if invocation.isAtomic then
  -- The answer shows the message as the whole batch leaves it.
  local its = invocation.script
  closing.add(function()
    for i, value in ipairs(its.list({ message = shown() })) do
      if i > 1 then list[i] = value end
    end
  end)
else
  closing.run(now)
end
list = call.answer({ message = shown() }, 'operation')
return list
