--- Changes a mailbox; '' leaves a field as it is.
--- @request write
--- @args mailboxId name backlogLimit maxAttempts retryDelaySeconds maxRetryDelaySeconds
--- @reply mailbox:mailbox
--- @include lib/call lib/plan lib/records lib/refuse mailbox/_mailbox mailbox/_names mailbox/_view
local box = mailbox.view(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
local asked = {
  name = name ~= '' and name or nil,
  backlogLimit = tonumber(backlogLimit),
  maxAttempts = tonumber(maxAttempts),
  retryDelaySeconds = tonumber(retryDelaySeconds),
  maxRetryDelaySeconds = tonumber(maxRetryDelaySeconds),
}
for field, value in pairs(asked) do
  if box[field] == value then asked[field] = nil end
end
if not next(asked) then return call.answer({ mailbox = box }) end
plan.needOperation()

if asked.name then
  names.remove(box.name, mailboxId)
  names.add(name, mailboxId)
end
for field, value in pairs(asked) do records.set(box, field, value) end
emit.mailbox.updated(mailboxId, box)
return call.answer({ mailbox = box }, 'operation')
