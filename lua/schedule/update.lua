--- Changes a schedule. '' leaves a field as it is; cron and everySeconds replace each other.
--- @request write
--- @args sweptSchedule after nextAt scheduleId name mailboxId scopeId cron everySeconds timezone maxAttempts
--- @args retryDelaySeconds maxRetryDelaySeconds attemptSeconds priority key state
--- @long payload
--- @reply schedule:schedule
--- @include lib/audit lib/call lib/caller lib/clock lib/finished lib/maps lib/plan lib/records lib/refuse lib/sorted
--- @include mailbox/_mailbox mailbox/_send schedule/_change schedule/_schedule scope/_scope
local record = schedule.current(scheduleId, sweptSchedule)
if record.state == 'ENDED' then refuse('SCHEDULE_ENDED') end
local asked = { name = name, mailboxId = mailboxId, scopeId = scopeId, payload = payload, cron = cron,
  everySeconds = tonumber(everySeconds) or '', timezone = timezone, maxAttempts = tonumber(maxAttempts) or '',
  retryDelaySeconds = tonumber(retryDelaySeconds) or '', maxRetryDelaySeconds = tonumber(maxRetryDelaySeconds) or '',
  attemptSeconds = tonumber(attemptSeconds) or '',
  priority = tonumber(priority) or '', key = key }
for field, value in pairs(asked) do
  if value == '' or record[field] == value then asked[field] = nil end
end
local nextState = state ~= '' and state ~= record.state and state
if not next(asked) and not nextState then return call.answer({ schedule = record }) end
if asked.mailboxId and not mailbox.load(mailboxId, 'mode') then refuse('MAILBOX_NOT_FOUND', 'mailboxId') end
if asked.name and maps.get(keys.scheduleNames(), name) then refuse('SCHEDULE_EXISTS') end
local path = asked.scopeId and scope.path(scopeId)
if asked.scopeId then scope.needRunning(path) end
plan.needOperation()
if asked.payload then capacity.forPayload('payload', payload) end
if asked.scopeId then scope.check(path) end
if asked.cron then asked.everySeconds = false end
if asked.everySeconds then asked.cron = false end
local following = record.nextAt
if (nextState or record.state) == 'PAUSED' then
  following = false
elseif nextState or asked.cron or asked.everySeconds or asked.timezone and record.cron then
  local every = asked.everySeconds == nil and record.everySeconds or asked.everySeconds
  following = schedule.following(scheduleId, asked.cron or record.cron, every, asked.timezone or record.timezone,
    { nextAt = nextAt, after = after })
end

if asked.name then
  maps.remove(keys.scheduleNames(), record.name)
  maps.put(keys.scheduleNames(), name, scheduleId)
end
if asked.scopeId then
  if not path then scope.create(scopeId) end
  sorted.remove(keys.scopeSchedules(record.scopeId), scheduleId)
  sorted.add(keys.scopeSchedules(scopeId), '0', scheduleId)
  -- If the old scope has no other records, retention now treats it like a finished record.
  finished.add('scope:scope', record.scopeId, nowText)
end
for field, value in pairs(asked) do records.set(record, field, value) end
if nextState then schedule.enter(record, nextState) end
if following ~= record.nextAt then schedule.arm(record, following) end
emit.schedule.updated(scheduleId, record)
if nextState then
  audit(nextState == 'PAUSED' and 'schedule.paused' or 'schedule.resumed', caller.actor(), scheduleId, inSpace())
end
return call.answer({ schedule = record }, 'operation')
