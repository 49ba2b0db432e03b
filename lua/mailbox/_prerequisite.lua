--- @export prerequisite
--- @include lib/caller lib/clock lib/hooks lib/invocation lib/maps lib/records lib/refuse lib/sorted lib/space
--- @include lib/timer
--- @include lib/unit group/_group mailbox/_blocked mailbox/_end mailbox/_mailbox mailbox/_message mailbox/_others
--- @include mailbox/_return mailbox/_waits scope/_scope
--- Prerequisites: a message with `after` is BLOCKED until each of them has succeeded. Its `prerequisites` start with
--- the policy for a prerequisite that does not succeed (CANCEL, WAIT or RUN). An entry for each prerequisite follows:
--- `m`, `g` or `s`, the id of the message, group or scope, and `=STATE` once its end has been handled.
---
--- Each message or group has a list of its dependents: the messages that are after it. When the prerequisite ends, at
--- most `maxDecided` of them are handled in the same invocation, the others by workers. Until the workers are done, the
--- prerequisite may be requeued. Its next dependents then go to a new list, `id#1`, and have `mID#1` in
--- `prerequisites`. With WAIT, dependents of a message are in the list `id#WAIT`, which is handled only when the
--- message is ACKED or removed. Those that are after a scope wait at its place (mailbox/_waits): `sID#number`.
local prerequisite = {}
local maxDependents, maxDecided = 10000, 50
local isWell = { ACKED = true, SATISFIED = true, IDLE = true }
local words = { m = 'message', g = 'group', s = 'scope' }
local unknown = { m = 'MESSAGE_NOT_FOUND', g = 'GROUP_NOT_FOUND', s = 'SCOPE_NOT_FOUND' }
--- An entry after the policy: kind, id, number of an end, and state or ''.
local entryForm = '([mgs])(....................................)(#?%d*)(=?%u*)'

--- Where the dependents of a message, group or scope are.
local function placeOf(policy, kind, id, number)
  if kind == 's' then return 's' .. id .. number end
  return policy == 'WAIT' and kind == 'm' and id .. '#WAIT' or id .. number
end

local function policyOf(text)
  return string.match(text, '^%u+')
end

--- Whether the caller may not use the mailbox of a message or group, which then counts as unknown.
local function isHidden(kind, id)
  if kind == 's' then return false end
  if kind == 'm' then return not caller.hasMailbox(message.load(id, 'mailboxId').mailboxId) end
  return not group.isVisible(group.load(id, 'mailboxId', 'otherMailboxes'))
end

--- The state of a message, and how many of its ends have left dependents to the workers; nil if there is no such
--- message.
local function messageState(id)
  local found = message.load(id, 'mailboxId', 'scopeId', 'state', 'ends')
  if not found or not found.mailboxId then return nil end
  local isCancelled = message.isLive(found) and scope.cancelFor(found)
  return isCancelled and 'CANCELLED' or found.state, found.ends > 0 and '#' .. found.ends or ''
end

--- The outcome of a group, OPEN if it has none; nil if there is no such group.
local function groupState(id)
  local found = group.load(id, 'state', 'outcome', 'deadline', 'scopeId')
  if not found then return nil end
  if found.state == 'DECIDED' then return found.outcome end
  return group.isOverdue(found, now) and 'EXPIRED' or scope.cancelFor(found) and 'CANCELLED' or 'OPEN'
end

--- The state of a scope: CANCELLED, IDLE if nothing is live in it and below, or ACTIVE; nil if there is no such scope.
local function scopeState(id)
  local path = scope.path(id)
  if not path then return nil end
  if scope.cancelOf(path) then return 'CANCELLED' end
  return scope.load(id, 'path', 'live').live == 0 and 'IDLE' or 'ACTIVE'
end

local states = { m = messageState, g = groupState, s = scopeState }

local function isOver(kind, state)
  if kind == 'm' then return not message.live[state] end
  return state ~= 'OPEN' and state ~= 'ACTIVE'
end

--- The state of a message, group or scope, and whether it is over; nil if there is none.
function prerequisite.stateOf(kind, id)
  local state = states[kind](id)
  return state, state and isOver(kind, state)
end

--- Whether as many messages wait for a message, group or scope as may.
local function isFull(policy, kind, id, number)
  local waiting = waits.lengthOf(kind .. id)
  if kind ~= 's' then waiting = waiting + unit.lengthOf(keys.dependents(placeOf(policy, kind, id, number))) end
  return waiting >= maxDependents
end

--- Why a suspension may not wait for this, as an error's code and detail; nil if it may.
function prerequisite.obstacle(kind, id)
  if not states[kind](id) or invocation.limits and isHidden(kind, id) then return unknown[kind], 'after' end
  if isFull('', kind, id, '') then return 'DEPENDENTS_FULL', words[kind] .. ' ' .. id .. ' ' .. maxDependents end
end

--- Judges the prerequisites of a message that is sent or requeued. Returns them in their stored form and the lists to
--- join; or nil with the code and detail of the refusal. For a requeue, the stored state stands in for a prerequisite
--- that retention has removed. A new message may only name existing prerequisites whose mailboxes its sender may use.
function prerequisite.judge(text, isNew)
  local policy = policyOf(text)
  local kept, places = { policy }, {}
  for kind, id, _, known in string.gmatch(text, entryForm) do
    local state, number = states[kind](id)
    local isGone = not state
    if isNew and (isGone or invocation.limits and isHidden(kind, id)) then return nil, unknown[kind], 'after' end
    state = state or known ~= '' and string.sub(known, 2) or 'GONE'
    -- What an atomic batch still starts in a scope counts: see dependents.settle.
    local hasEnded = isOver(kind, state) and not (state == 'IDLE' and invocation.isAtomic)
    if hasEnded and (isWell[state] or policy == 'RUN') then
      kept[#kept + 1] = kind .. id .. '=' .. state
    elseif hasEnded and (isGone or kind ~= 'm' or policy ~= 'WAIT') then
      return nil, 'PREREQUISITE_FAILED', words[kind] .. ' ' .. id .. ' ' .. state
    else
      if isFull(policy, kind, id, number or '') then
        return nil, 'DEPENDENTS_FULL', words[kind] .. ' ' .. id .. ' ' .. maxDependents
      end
      kept[#kept + 1], places[#places + 1] = kind .. id .. (number or ''), placeOf(policy, kind, id, number or '')
    end
  end
  return table.concat(kept, ' '), places
end

--- Refuses what a message or a suspension is to wait for.
function prerequisite.reject(code, detail)
  if code == 'MESSAGE_NOT_FOUND' then refuse('MESSAGE_NOT_FOUND', detail) end
  if code == 'GROUP_NOT_FOUND' then refuse('GROUP_NOT_FOUND', detail) end
  if code == 'SCOPE_NOT_FOUND' then refuse('SCOPE_NOT_FOUND', detail) end
  refuse('DEPENDENTS_FULL', detail)
end

--- Refuses what never ends before the message does: its own scope, and those above it.
function prerequisite.needOther(text, scopeId)
  local path = string.find(text, 's', 1, true) and scope.path(scopeId) or { scopeId }
  for _, id in ipairs(path) do
    if string.find(text, 's' .. id, 1, true) then
      refuse('VALIDATION_FAILED', "after must not name the message's own scope or one above it")
    end
  end
end

--- Like `prerequisite.judge` for a new message of this scope, but refuses.
function prerequisite.need(text, scopeId)
  prerequisite.needOther(text, scopeId)
  local kept, places, detail = prerequisite.judge(text, true)
  if kept then return kept, places end
  if places == 'PREREQUISITE_FAILED' then refuse('PREREQUISITE_FAILED', detail) end
  prerequisite.reject(places, detail)
end

--- Blocks a new or requeued message for the open prerequisites that `prerequisite.judge` found.
function prerequisite.hold(record, places, box, readyAt)
  blocked.hold(record, box, readyAt)
  for _, place in ipairs(places) do
    if string.sub(place, 1, 1) == 's' then
      local number = waits.join(place, record.id)
      local pattern = string.gsub(place, '%-', '%%-')
      records.set(record, 'prerequisites', (string.gsub(record.prerequisites, pattern, place .. '#' .. number)))
      if invocation.isAtomic then waits.touch(place) end
    else
      unit.push(keys.dependents(place), record.id)
    end
  end
end

--- A BLOCKED message with prerequisites; nil if it is anything else.
local function waiting(id)
  local found = message.stored(id, 'state')
  if not found or found.state ~= 'BLOCKED' or not message.load(id, 'prerequisites').prerequisites then return nil end
  return message.read(id)
end

--- Whether a prerequisite is still open.
local function isOpen(text)
  for _, _, _, known in string.gmatch(text, entryForm) do
    if known == '' then return true end
  end
  return false
end

--- Whether a message waits for this group.
function prerequisite.isAfter(record, groupId)
  local text = record.state == 'BLOCKED' and message.load(record.id, 'prerequisites').prerequisites
  for kind, id, _, known in string.gmatch(text or '', entryForm) do
    if kind == 'g' and id == groupId and known == '' then return true end
  end
  return false
end

--- The place of mailbox/_waits and the number of its set; nil for a list of dependents.
local function setOf(place)
  return string.match(place, '^([mgsn][^#]*)#(%d+)$')
end

--- Applies the end, at `at`, of what a message waits for at this place: to its suspension, or to its prerequisites, the
--- others of which are unchanged.
local function decide(dependentId, place, state, at, cause)
  local base, setNumber = setOf(place)
  if base then waits.leave(base, setNumber, dependentId) else unit.pull(keys.dependents(place), dependentId) end
  if base and suspended.over(dependentId, setNumber, state, at) then return end
  local record = waiting(dependentId)
  if not record then return end
  local policy, isMeant = policyOf(record.prerequisites), false
  local text = string.gsub(record.prerequisites, entryForm, function(kind, id, number, known)
    if known ~= '' or placeOf(policy, kind, id, number) ~= place then return nil end
    isMeant = true
    return kind .. id .. '=' .. state
  end)
  if not isMeant then return end
  records.set(record, 'prerequisites', text)
  local cancel = scope.cancelFor(record)
  if cancel then
    -- The cancel of its run came first, even if no step has reached it.
    message.stop(record, cancel)
  elseif not isWell[state] and policy ~= 'RUN' then
    message.finish(record, 'CANCELLED', at, emit.message.cancelled, 'PREREQUISITE_FAILED', cause)
  elseif not isOpen(text) then
    local readyAt = message.load(record.id, 'readyAt').readyAt
    blocked.drop(record)
    message.enqueue(record, scope.path(record.scopeId), mailbox.read(record.mailboxId), readyAt, at)
  end
end

--- How many records may change with a message: a cancel may decide its group and so cancel all members.
local function workOf(id)
  local record = message.load(id, 'scopeId', 'groupId')
  local found = record and record.groupId and group.load(record.groupId, 'state', 'pending')
  return found and found.state ~= 'DECIDED' and 1 + found.pending or 1
end

--- The first messages that wait at a place.
local function firstAt(place, limit)
  local _, number = setOf(place)
  if not number then return unit.hints(keys.dependents(place), limit) end
  local ids, entries = {}, sorted.front(keys.waiters(number), limit)
  for i = 1, #entries, 2 do ids[#ids + 1] = entries[i] end
  return ids
end

--- Handles the messages at a place until about `limit` records have changed. Returns how many have, and whether there
--- are more.
local function step(place, state, at, cause, limit)
  local decided, finishes = invocation.decided or 0, message.finishes
  local work = 0
  for i, id in ipairs(firstAt(place, limit + 1)) do
    if i > limit or work >= limit or work > 0 and not isWell[state] and work + workOf(id) > limit then
      return work, true
    end
    invocation.decided = (invocation.decided or 0) + 1
    decide(id, place, state, at, cause)
    invocation.decided = math.max(invocation.decided, decided + message.finishes - finishes)
    work = invocation.decided - decided
  end
  return work, false
end

--- Applies the end of what messages wait for at this place. Returns whether workers have to continue.
local function endOf(place, state, at, cause)
  local _, more = step(place, state, at, cause, math.max(0, maxDecided - (invocation.decided or 0)))
  if not more then return false end
  maps.put(keys.decisions(), place, state .. ' ' .. (cause or requestId))
  timer.armInBackground('mailbox:dependents', place, now)
  return true
end

function dependents.ended(id, state, at, cause, record)
  local ends = record and message.load(id, 'ends').ends or 0
  local isLeft = endOf(ends > 0 and id .. '#' .. ends or id, state, at, cause)
  if isLeft and record then records.set(record, 'ends', ends + 1) end
  if isWell[state] and record then endOf(id .. '#WAIT', state, at, cause) end
  waits.touch((record and 'm' or 'g') .. id, cause)
end

function dependents.settle(place, at, cause, endOfNote)
  local number = maps.get(keys.waits(), place)
  if not number then return end
  local kind, id = string.match(place, '^(.)(.*)$')
  local state, isEnd
  if endOfNote then
    state = endOfNote()
    isEnd = state
  else
    state, isEnd = prerequisite.stateOf(kind, id)
  end
  if not isEnd then return end
  maps.remove(keys.waits(), place)
  endOf(place .. '#' .. number, state, at, cause)
end

function dependents.gone(id, state)
  endOf(id .. '#WAIT', state, now)
end

function dependents.forget(record)
  local text = message.load(record.id, 'prerequisites').prerequisites
  if not text then return end
  local policy = policyOf(text)
  for kind, id, number, known in string.gmatch(text, entryForm) do
    if known == '' and kind == 's' then
      waits.leave('s' .. id, string.sub(number, 2), record.id)
    elseif known == '' then
      -- The cancel of a run ends its newest messages first.
      unit.pull(keys.dependents(placeOf(policy, kind, id, number)), record.id, true)
    end
  end
end

--- Handles the dependents that an end has left to the workers.
due['mailbox:dependents'] = function(place, _, limit)
  local decision = maps.get(keys.decisions(), place)
  if not decision then return end
  local state, cause = string.match(decision, '^(%S+) (.*)$')
  local done, more = step(place, state, now, cause ~= '' and cause or nil, math.ceil(limit / 2))
  if more then
    timer.armInBackground('mailbox:dependents', place, now)
    return limit
  end
  maps.remove(keys.decisions(), place)
  return math.max(1, 2 * done)
end

--- The prerequisites of a message for a read, with `~STATE` for each that it still waits for.
function prerequisite.standing(text)
  return (string.gsub(text, entryForm, function(kind, id, _, known)
    local state
    if kind == 'm' then
      -- Once its end has been handled, its state is in the text, so a packed message need not be opened.
      local found
      if known == '' then
        found = message.load(id, 'mailboxId', 'state', 'readyAt')
      else
        found = message.stored(id, 'mailboxId', 'state', 'readyAt')
      end
      state = found and found.mailboxId and message.stateNow(found)
    elseif kind == 'g' then
      local found = group.load(id, 'state', 'outcome')
      state = found and (found.outcome or found.state)
    else
      state = known == '' and scopeState(id)
    end
    if known ~= '' then return kind .. id .. '=' .. (state or string.sub(known, 2)) end
    return kind .. id .. (state and '~' .. state or '')
  end))
end
