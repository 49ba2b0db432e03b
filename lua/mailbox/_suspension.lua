--- @export suspension
--- @include lib/closing lib/clock lib/count lib/decimal lib/hooks lib/records lib/timer mailbox/_end mailbox/_message
--- @include mailbox/_others mailbox/_prerequisite mailbox/_return mailbox/_waits scope/_scope
--- Suspended messages: the holder gave up the claim, and they are BLOCKED (`blockedOn` is SUSPENSION) until what it
--- named is over: all of it or, with `any`, one thing.
---
--- `suspended` is `since until timeoutAt any|all RETURN|FAIL SLEEPING|- wokenBy`, with `-` for none; `until` ends a
--- sleep. `awaited` has an entry for each other condition: `m`, `g`, `s` or `n` and the id of the message, group, scope
--- or the note's scope, with `#number` of its set (mailbox/_waits) or, once it is over, `=STATE`. `awaitedNote` is the
--- version and the key of the note. All three stay until the message is suspended again or requeued.
local suspension = {}
local form = '([mgsn])(....................................)(#?%d*)(=?%u*)'

--- The parts of `suspended`.
local function parts(record)
  local text = message.load(record.id, 'suspended', 'awaited', 'awaitedNote').suspended
  local since, untilAt, timeoutAt, which, onTimeout, sleeping, wokenBy =
    string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  return { since = since, untilAt = tonumber(untilAt), timeoutAt = tonumber(timeoutAt), isAny = which == 'any',
    onTimeout = onTimeout, isSleeping = sleeping == 'SLEEPING', wokenBy = wokenBy }
end

local function keep(record, all)
  local untilAt, sleeping = all.untilAt and decimal(all.untilAt) or '-', all.isSleeping and 'SLEEPING' or '-'
  records.set(record, 'suspended', table.concat({ all.since, untilAt, decimal(all.timeoutAt),
    all.isAny and 'any' or 'all', all.onTimeout, sleeping, all.wokenBy }, ' '))
end

local function placeOf(record, kind, id)
  if kind ~= 'n' then return kind .. id end
  local version, key = string.match(record.awaitedNote, '^(%d+) (.*)$')
  return waits.ofNote(id, key, version)
end

--- Arms the timer for the next moment at which something happens by itself. A condition due at the moment of the
--- timeout wins, so this kind of timer sorts behind all others that end something.
local function arm(record, all)
  timer.arm('suspension:end', record.id, all.isSleeping and math.min(all.untilAt, all.timeoutAt) or all.timeoutAt)
end

--- The suspension ends, in whatever way.
local function leave(record)
  timer.disarm('suspension:end', record.id)
  count.space('timers:ARMED', -1)
  records.set(record, 'awaited', (string.gsub(record.awaited, form, function(kind, id, number, known)
    if known ~= '' then return nil end
    waits.leave(placeOf(record, kind, id), string.sub(number, 2), record.id)
    if kind == 'n' then noted.waits(id, -1) end
    return kind .. id
  end)))
end

local function wake(record, all, at, by)
  local cancel = scope.cancelFor(record)
  if cancel then return message.stop(record, cancel) end
  leave(record)
  all.wokenBy, all.isSleeping = by, false
  keep(record, all)
  aside.resume(record, at)
end

--- Looks at the conditions that are still open. judge(kind, id, number): the state of one that is over, and whether the
--- message has left its set. Lets the message continue if enough of them are over; returns whether it did.
local function look(record, at, judge)
  local all, open, over = parts(record), 0, 0
  local text = string.gsub(record.awaited, form, function(kind, id, number, known)
    local state, hasLeft = string.sub(known, 2), true
    if known == '' then state, hasLeft = judge(kind, id, string.sub(number, 2)) end
    if not state then
      open = open + 1
      return nil
    end
    over = over + 1
    if known ~= '' then return nil end
    if not hasLeft then waits.leave(placeOf(record, kind, id), string.sub(number, 2), record.id) end
    if kind == 'n' then noted.waits(id, -1) end
    return kind .. id .. '=' .. state
  end)
  if text ~= record.awaited then records.set(record, 'awaited', text) end
  local isSlept = all.isSleeping and all.untilAt <= at
  if isSlept then all.isSleeping = false end
  if all.untilAt then
    if all.isSleeping then open = open + 1 else over = over + 1 end
  end
  if over > 0 and (all.isAny or open == 0) then
    wake(record, all, at, 'CONDITION')
    return true
  end
  if isSlept then keep(record, all) end
  return false
end

--- The message with this id, if it is suspended.
local function found(id)
  local known = message.stored(id, 'state')
  if not known or known.state ~= 'BLOCKED' then return nil end
  return message.load(id, 'blockedOn').blockedOn == 'SUSPENSION' and message.read(id) or nil
end

--- Why a message may not be suspended on this, as an error's code and detail; nil if it may.
function suspension.obstacle(record, conditions)
  if string.find(conditions, 'm' .. record.id, 1, true) then
    return 'VALIDATION_FAILED', 'after must not name the message itself'
  end
  if record.groupId and string.find(conditions, 'g' .. record.groupId, 1, true) then
    return 'VALIDATION_FAILED', "after must not name the message's own group"
  end
  prerequisite.needOther(conditions, record.scopeId)
  for kind, id in string.gmatch(conditions, form) do
    local code, detail = prerequisite.obstacle(kind, id)
    if code then return code, detail end
  end
end

--- Suspends a CLAIMED message. What it waits for is judged when the call, or the atomic batch, has made its changes.
--- conditions: `m`, `g` or `s` and an id for each; note: its scopeId, key and sinceVersion, or nil; untilAt: the end of
--- a sleep, or nil. Call keyed.needOrder first if it yields its key.
function suspension.begin(record, conditions, note, untilAt, timeoutAt, isAny, onTimeout, yieldsKey)
  aside.put(record, 'SUSPENDED', 'SUSPENSION', yieldsKey)
  local entries = {}
  for kind, id in string.gmatch(conditions, form) do
    entries[#entries + 1] = kind .. id .. '#' .. waits.join(kind .. id, record.id)
  end
  if note then
    records.set(record, 'awaitedNote', note.sinceVersion .. ' ' .. note.key)
    entries[#entries + 1] = 'n' .. note.scopeId .. '#'
      .. waits.join(waits.ofNote(note.scopeId, note.key, note.sinceVersion), record.id)
    noted.waits(note.scopeId, 1)
  else
    records.set(record, 'awaitedNote', false)
  end
  records.set(record, 'awaited', table.concat(entries, ' '))
  local all = { since = nowText, untilAt = untilAt, timeoutAt = timeoutAt, isAny = isAny, onTimeout = onTimeout,
    isSleeping = untilAt ~= nil, wokenBy = '-' }
  keep(record, all)
  count.space('timers:ARMED', 1)
  arm(record, all)
  message.needTrace(record)
  emit.message.suspended(record.id, record)
  closing.add(function(at)
    local waiting = found(record.id)
    if not waiting then return end
    look(waiting, at, function(kind, id)
      if kind == 'n' then
        local version, key = string.match(waiting.awaitedNote, '^(%d+) (.*)$')
        return noted.version(id, key) ~= tonumber(version) and 'CHANGED'
      end
      local state, isOver = prerequisite.stateOf(kind, id)
      -- Retention removes a scope that has long been idle.
      if not state then return 'IDLE' end
      return isOver and state
    end)
  end)
end

--- A requeue forgets the last suspension.
function suspension.forget(record)
  if not record.place or not message.load(record.id, 'suspended').suspended then return end
  for _, field in ipairs({ 'suspended', 'awaited', 'awaitedNote' }) do records.set(record, field, false) end
end

function suspended.over(id, number, state, at)
  local record = found(id)
  if not record then return false end
  look(record, at, function(_, _, its) return its == number and state, true end)
  return true
end

function suspended.forget(record)
  parts(record)
  leave(record)
end

due['suspension:end'] = function(messageId, at)
  local record = found(messageId)
  if not record then return end
  if look(record, at, function() return nil end) then return end
  local all = parts(record)
  if all.timeoutAt > at then
    arm(record, all)
  elseif all.onTimeout == 'FAIL' and not scope.cancelFor(record) then
    message.finish(record, 'FAILED', at, emit.message.failed, 'SUSPEND_TIMEOUT')
  else
    wake(record, all, at, 'TIMEOUT')
  end
end
