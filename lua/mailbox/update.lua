--- Changes a mailbox. '' leaves a field as it is; 0 removes perKey, attemptSeconds and progressEvents.
--- @request write
--- @args mailboxId name backlogLimit maxAttempts retryDelaySeconds maxRetryDelaySeconds perKey attemptSeconds
--- @args progressEvents
--- @reply mailbox:mailbox
--- @include lib/call lib/clock lib/plan lib/records lib/refuse mailbox/_attemptLimit mailbox/_keyed mailbox/_mailbox
--- @include mailbox/_reports mailbox/_view
local box = mailbox.view(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
--- A setting that 0 removes; nil if it is left out.
local function removable(text)
  local value = tonumber(text)
  if value == 0 then return false end
  return value
end
local limit = removable(perKey)
local asked = {
  perKey = limit,
  attemptSeconds = removable(attemptSeconds),
  name = name ~= '' and name or nil,
  backlogLimit = tonumber(backlogLimit),
  maxAttempts = tonumber(maxAttempts),
  retryDelaySeconds = tonumber(retryDelaySeconds),
  maxRetryDelaySeconds = tonumber(maxRetryDelaySeconds),
}
if progressEvents ~= '' then asked.progressEvents = progressEvents == '1' end
for field, value in pairs(asked) do
  if box[field] == value then asked[field] = nil end
end
local isRaised = asked.perKey ~= nil and box.perKey and (not limit or limit > box.perKey)
if not next(asked) then return call.answer({ mailbox = box }) end
plan.needOperation()

if asked.name then
  names.remove(box.name, mailboxId)
  names.add(name, mailboxId)
end
if asked.perKey ~= nil then keyed.needRipened(mailboxId, now) end
if asked.attemptSeconds ~= nil and (not asked.attemptSeconds or not box.attemptSeconds) then
  attemptLimit.count(asked.attemptSeconds and 1 or -1)
end
if asked.progressEvents ~= nil then reports.count(asked.progressEvents and 1 or -1) end
for field, value in pairs(asked) do records.set(box, field, value) end
if isRaised then keyed.raised(mailboxId) end
emit.mailbox.updated(mailboxId, box)
return call.answer({ mailbox = mailbox.view(mailboxId) }, 'operation')
