--- @export prerequisite
--- @include lib/caller lib/clock lib/hooks lib/invocation lib/maps lib/records lib/refuse lib/space lib/timer
--- @include lib/unit group/_group mailbox/_blocked mailbox/_end mailbox/_mailbox mailbox/_message mailbox/_others
--- @include mailbox/_return scope/_scope
--- Prerequisites: a message with `after` is BLOCKED until each of them has succeeded. Its `prerequisites` start with
--- the policy for a prerequisite that does not succeed (CANCEL, WAIT or RUN). An entry for each prerequisite follows:
--- `m` or `g`, the id of the message or group, and `=STATE` once its end has been handled.
---
--- Each prerequisite has a list of its dependents: the messages that are after it. When the prerequisite ends, at most
--- `maxDecided` of them are handled in the same invocation, the others by workers. Until the workers are done, the
--- prerequisite may be requeued. Its next dependents then go to a new list, `id#1`, and have `mID#1` in
--- `prerequisites`. With WAIT, dependents of a message are in the list `id#WAIT`, which is handled only when the
--- message is ACKED or removed.
local prerequisite = {}
local maxDependents, maxDecided = 10000, 50
local isWell = { ACKED = true, SATISFIED = true }
--- An entry after the policy: kind, id, number of an end, and state or ''.
local entryForm = '([mg])(....................................)(#?%d*)(=?%u*)'

--- The list of dependents of a message or group.
local function placeOf(policy, kind, id, number)
  return policy == 'WAIT' and kind == 'm' and id .. '#WAIT' or id .. number
end

local function policyOf(text)
  return string.match(text, '^%u+')
end

--- Whether the caller may not use the mailbox of a message or group, which then counts as unknown.
local function isHidden(kind, id)
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

local function isOver(kind, state)
  if kind == 'm' then return not message.live[state] end
  return state ~= 'OPEN'
end

--- Judges the prerequisites of a message that is sent or requeued. Returns them in their stored form and the lists to
--- join; or nil with the code and detail of the refusal. For a requeue, the stored state stands in for a prerequisite
--- that retention has removed. A new message may only name existing prerequisites whose mailboxes its sender may use.
function prerequisite.judge(text, isNew)
  local policy = policyOf(text)
  local kept, places = { policy }, {}
  for kind, id, _, known in string.gmatch(text, entryForm) do
    local state, number = (kind == 'm' and messageState or groupState)(id)
    local isGone = not state
    if isNew and (isGone or invocation.limits and isHidden(kind, id)) then
      return nil, kind == 'm' and 'MESSAGE_NOT_FOUND' or 'GROUP_NOT_FOUND', 'after'
    end
    state = state or known ~= '' and string.sub(known, 2) or 'GONE'
    local hasEnded = isOver(kind, state)
    if hasEnded and (isWell[state] or policy == 'RUN') then
      kept[#kept + 1] = kind .. id .. '=' .. state
    elseif hasEnded and (isGone or kind == 'g' or policy ~= 'WAIT') then
      return nil, 'PREREQUISITE_FAILED', (kind == 'm' and 'message ' or 'group ') .. id .. ' ' .. state
    else
      local place = placeOf(policy, kind, id, number or '')
      if unit.lengthOf(keys.dependents(place)) >= maxDependents then
        return nil, 'DEPENDENTS_FULL', (kind == 'm' and 'message ' or 'group ') .. id .. ' ' .. maxDependents
      end
      kept[#kept + 1], places[#places + 1] = kind .. id .. (number or ''), place
    end
  end
  return table.concat(kept, ' '), places
end

--- Like `prerequisite.judge` for a new message, but refuses.
function prerequisite.need(text)
  local kept, places, detail = prerequisite.judge(text, true)
  if kept then return kept, places end
  if places == 'MESSAGE_NOT_FOUND' then refuse('MESSAGE_NOT_FOUND', detail) end
  if places == 'GROUP_NOT_FOUND' then refuse('GROUP_NOT_FOUND', detail) end
  if places == 'PREREQUISITE_FAILED' then refuse('PREREQUISITE_FAILED', detail) end
  refuse('DEPENDENTS_FULL', detail)
end

--- Blocks a new or requeued message for the open prerequisites that `prerequisite.judge` found.
function prerequisite.hold(record, places, box, readyAt)
  blocked.hold(record, box, readyAt)
  for _, place in ipairs(places) do unit.push(keys.dependents(place), record.id) end
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

--- Applies the end, at `at`, of the prerequisite with this list to one of its dependents. Its other prerequisites are
--- unchanged.
local function decide(dependentId, place, state, at, cause)
  unit.pull(keys.dependents(place), dependentId)
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

--- Handles the entries of a list until about `limit` records have changed. Returns how many have, and whether there are
--- more.
local function step(place, state, at, cause, limit)
  local key, decided, finishes = keys.dependents(place), invocation.decided or 0, message.finishes
  local work = 0
  for i, id in ipairs(unit.hints(key, limit + 1)) do
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

--- Applies the end of the prerequisite with this list. Returns whether workers have to continue.
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
end

function dependents.gone(id, state)
  endOf(id .. '#WAIT', state, now)
end

function dependents.forget(record)
  local text = message.load(record.id, 'prerequisites').prerequisites
  if not text then return end
  local policy = policyOf(text)
  for kind, id, number, known in string.gmatch(text, entryForm) do
    -- The cancel of a run ends its newest messages first.
    if known == '' then unit.pull(keys.dependents(placeOf(policy, kind, id, number)), record.id, true) end
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
    else
      local found = group.load(id, 'state', 'outcome')
      state = found and (found.outcome or found.state)
    end
    if known ~= '' then return kind .. id .. '=' .. (state or string.sub(known, 2)) end
    return kind .. id .. (state and '~' .. state or '')
  end))
end
