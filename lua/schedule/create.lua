--- Creates a schedule; its name is unique in the space. cron, everySeconds: '' for the one not used; maxAttempts: ''
--- and the delays: '' for the mailbox's setting; priority, key: '' for none.
--- @request write
--- @args after nextAt name mailboxId scopeId cron everySeconds timezone maxAttempts retryDelaySeconds
--- @args maxRetryDelaySeconds attemptSeconds priority key tail
--- @reply schedule:schedule
--- @long payload
--- @include lib/call lib/id lib/maps lib/plan lib/refuse lib/sorted mailbox/_mailbox mailbox/_send schedule/_change
--- @include schedule/_schedule scope/_scope
local maxSchedules = 1000
if not mailbox.load(mailboxId, 'mode') then refuse('MAILBOX_NOT_FOUND', 'mailboxId') end
if maps.get(keys.scheduleNames(), name) then refuse('SCHEDULE_EXISTS') end
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
capacity.forPayload('payload', payload)
if redis.call('ZCARD', keys.schedules()) >= maxSchedules then refuse('SCHEDULES_FULL', maxSchedules) end
scope.check(path)

local id = newId(tail)
local firstAt = schedule.following(id, cron, tonumber(everySeconds), timezone, { nextAt = nextAt, after = after })
local record = { id = id, name = name, mailboxId = mailboxId, scopeId = scopeId, payload = payload,
  cron = cron ~= '' and cron, everySeconds = tonumber(everySeconds) or false, timezone = timezone,
  maxAttempts = tonumber(maxAttempts) or false, retryDelaySeconds = tonumber(retryDelaySeconds) or false,
  maxRetryDelaySeconds = tonumber(maxRetryDelaySeconds) or false,
  attemptSeconds = tonumber(attemptSeconds) or false, priority = tonumber(priority) or 0,
  key = key ~= '' and key, missed = 0 }
if not path then scope.create(scopeId) end
schedule.insert(record)
schedule.enter(record, 'ACTIVE')
schedule.arm(record, firstAt)
maps.put(keys.scheduleNames(), name, record.id)
sorted.add(keys.schedules(), '0', record.id)
sorted.add(keys.scopeSchedules(scopeId), '0', record.id)
emit.schedule.created(record.id, record)
return call.answer({ schedule = record }, 'operation')
