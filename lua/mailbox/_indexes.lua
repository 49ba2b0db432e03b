--- @export indexes
--- @include lib/id lib/page mailbox/_mailbox mailbox/_message mailbox/_packed
--- Chooses the index that a list of messages reads: the smallest one that has all messages of the wanted states or of
--- the wanted scope. Indexes in order of creation are read from the cursor on. The others are read whole, so they are
--- used only while they are small.
local indexes = {}
-- Lua allows 200 locals at a time, so the locals of this file have a block.
do
--- The most members to read whole, which takes Redis some milliseconds.
local maxWhole = 5000
local maxScopes = 50

local function size(key)
  return redis.call('ZCARD', key)
end

--- The sets of READY messages of the scope, or else of all root scopes; nil if there are too many.
local function readySets(mailboxId, scopeId)
  if scopeId ~= '' then return { keys.ready(mailboxId, scopeId) } end
  local roots = keys.heads(mailboxId)
  if size(roots) > maxWhole then return nil end
  local chosen = {}
  for i, rootId in ipairs(redis.call('ZRANGE', roots, 0, -1)) do chosen[i] = keys.ready(mailboxId, rootId) end
  return chosen
end

--- The sets that together have all messages of these states: `ordered`, the sets in order of creation; `others`; and
--- `size`, the total size of both. nil if a state has no set, or if the others are too large to read whole.
local function ofStates(mailboxId, states, scopeId)
  local ordered, others, sum, whole = {}, {}, 0, 0
  local function add(list, key)
    local members = size(key)
    list[#list + 1], sum = key, sum + members
    if list == others then whole = whole + members end
  end
  for state in string.gmatch(states, '%u+') do
    if message.requeueable[state] then
      add(ordered, keys.requeueable(mailboxId, state))
    elseif state == 'CLAIMED' then
      add(others, keys.claims())
    elseif state == 'DELAYED' then
      add(others, keys.delayed(mailboxId))
    elseif state == 'BLOCKED' then
      add(others, keys.blocked(mailboxId))
    elseif state == 'READY' then
      local chosen = (scopeId ~= '' or mailbox.load(mailboxId, 'ready').ready <= maxWhole)
        and readySets(mailboxId, scopeId)
      if not chosen then return nil end
      for _, key in ipairs(chosen) do add(others, key) end
    else
      return nil
    end
    if whole > maxWhole then return nil end
  end
  return { ordered = ordered, others = others, size = sum }
end

--- The sets of the messages in a scope and below it, and their total size; nil if there are too many scopes.
local function ofScope(scopeId)
  local scopes, looked, chosen, sum = { scopeId }, 1, {}, 0
  while scopes[looked] do
    for _, child in ipairs(redis.call('ZRANGE', keys.gates(scopes[looked]), 0, maxScopes)) do
      if #scopes == maxScopes then return nil end
      scopes[#scopes + 1] = string.sub(child, -36)
    end
    chosen[looked] = keys.scopeMessages(scopes[looked])
    sum = sum + size(chosen[looked])
    looked = looked + 1
  end
  -- If there are several sets, each is read as far as the page goes.
  return (not chosen[2] or sum <= maxWhole) and { ordered = chosen, others = {}, size = sum } or nil
end

--- Collects ids and keeps the first `limit`. Returns a function that adds an id, and a function that returns the ids in
--- order.
local function firstOf(limit)
  local ids, last = {}
  local function cut()
    table.sort(ids)
    for i = #ids, limit + 1, -1 do ids[i] = nil end
    last = ids[limit]
    return ids
  end
  local function add(id)
    if last and id > last then return end
    ids[#ids + 1] = id
    if #ids == 2 * limit then cut() end
  end
  return add, cut
end

--- At most `limit` ids from the chosen sets after a cursor, in order of creation.
local function read(mailboxId, chosen, cursor, limit)
  if #chosen.ordered == 1 and not chosen.others[1] then return idsAfter(chosen.ordered[1], cursor, limit) end
  local add, inOrder = firstOf(limit)
  for _, key in ipairs(chosen.ordered) do
    for _, id in ipairs(idsAfter(key, cursor, limit)) do add(id) end
  end
  -- A message becomes ready, or its claim ends, only after it was sent.
  local since = cursor == '' and 0 or momentOf(cursor)
  for _, key in ipairs(chosen.others) do
    local members = redis.call('ZRANGE', key, since, '+inf', 'BYSCORE')
    -- READY messages with a priority have scores below 0.
    for _, member in ipairs(redis.call('ZRANGE', key, '-inf', '(0', 'BYSCORE')) do members[#members + 1] = member end
    -- This set has the claims of all mailboxes.
    local ofMailbox = key == keys.claims() and members[1]
      and redis.call('ZMSCORE', keys.messages(mailboxId), unpack(members))
    for i, member in ipairs(members) do
      -- A READY message may have its place in front of its id.
      local id = #member == 36 and member or string.sub(member, -36)
      if id > cursor and (not ofMailbox or ofMailbox[i]) then add(id) end
    end
  end
  return inOrder()
end

--- Candidate ids of a mailbox after a cursor, oldest first, at most `limit`. All wanted messages are among them. If the
--- index has only wanted messages, at most `few` ids.
function indexes.ids(mailboxId, states, scopeId, cursor, limit, few)
  local isLive = states ~= ''
  for state in string.gmatch(states, '%u+') do isLive = isLive and message.live[state] end
  local best = states ~= '' and ofStates(mailboxId, states, scopeId)
  local other = scopeId ~= '' and ofScope(scopeId)
  if other and not (best and best.size < other.size) then best = other end
  if best then
    local isAllRecords = isLive or size(keys.mailboxSegments(mailboxId)) == 0
    local isSmallest = not isAllRecords or best.size <= size(keys.messages(mailboxId))
    if isSmallest then return read(mailboxId, best, cursor, scopeId == '' and few or limit) end
  end
  -- Live messages are never packed.
  return isLive and idsAfter(keys.messages(mailboxId), cursor, limit) or idsOf(mailboxId, cursor, limit)
end
end
