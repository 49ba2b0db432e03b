--- @export circle
--- @include lib/sorted pool/_claimants pool/_hold pool/_pool scope/_scope
--- Finds waits that can never end (deadlocks). It assumes that every party that waits for nothing releases all its
--- holds; then every party that this lets in does the same, and so on. Parties that still wait at the end wait for
--- ever: they hold what the others want.
---
--- A party is a holder with a session (pool/_hold). A hold without a session is a party of its own, as nothing else is
--- known about it.
local circle = {}
local maxLooks = 200

--- A pool with its holds, claims and waiters, in order, and their number; nil if that is more than `looks`. Those of a
--- cancelled run are about to leave: they are left out, and their units count as free.
local function look(poolId, looks)
  local held, waits = sorted.front(keys.heldHolds(poolId), looks + 1), sorted.front(keys.liveHolds(poolId), looks + 1)
  local claims = claimants.of(poolId, looks)
  local count = #held / 2 + #claims + #waits / 2
  if count > looks then return nil end
  local record = pool.load(poolId, 'name', 'units', 'heldUnits')
  local found = { name = record.name, free = record.units - record.heldUnits, held = {}, waits = {} }
  local function addHeld(one)
    if scope.cancelFor(one) then
      found.free = found.free + one.units
    else
      table.insert(found.held, one)
    end
  end
  for i = 1, #held, 2 do addHeld(hold.read(held[i])) end
  for _, claim in ipairs(claims) do addHeld(claim) end
  for i = 1, #waits, 2 do
    local wait = hold.read(waits[i])
    if not scope.cancelFor(wait) then table.insert(found.waits, wait) end
  end
  return found, count
end

local function partyOf(record)
  return holders.of(record) or record.id
end

--- The pools involved: the pool that `record` would wait for, and in turn every pool that a holder or waiter of such a
--- pool waits for. nil if they have too many holds.
local function pools(record)
  local ids, byId, seen, looks = { record.poolId }, {}, {}, maxLooks
  local at = 1
  while ids[at] do
    local poolId = ids[at]
    if not byId[poolId] then
      local found, count = look(poolId, looks)
      if not found then return nil end
      looks, byId[poolId] = looks - count, found
      for _, list in ipairs({ found.held, found.waits }) do
        for _, one in ipairs(list) do
          local holder = holders.of(one)
          if holder and not seen[holder] then
            seen[holder] = true
            for _, id in ipairs(holders.waits(holder, maxLooks)) do ids[#ids + 1] = hold.read(id).poolId end
          end
        end
      end
    end
    at = at + 1
  end
  return byId
end

--- The parties by name, each with its number of waits and the list of its holds, as { pool, units }.
local function parties(byId)
  local all = {}
  local function party(record)
    local name = partyOf(record)
    all[name] = all[name] or { waits = 0, holds = {} }
    return all[name]
  end
  for _, one in pairs(byId) do
    for _, record in ipairs(one.held) do table.insert(party(record).holds, { one, record.units }) end
    for _, record in ipairs(one.waits) do party(record).waits = party(record).waits + 1 end
  end
  return all
end

--- Releases holds and lets in waiters until nothing changes any more.
local function settle(byId, all)
  local hasChanged = true
  while hasChanged do
    hasChanged = false
    for _, one in pairs(all) do
      if one.waits == 0 and one.holds[1] then
        for _, held in ipairs(one.holds) do held[1].free = held[1].free + held[2] end
        one.holds, hasChanged = {}, true
      end
    end
    for _, one in pairs(byId) do
      local head = one.waits[1]
      while head and head.units <= one.free do
        local party = all[partyOf(head)]
        one.free, party.waits, hasChanged = one.free - head.units, party.waits - 1, true
        table.insert(party.holds, { one, head.units })
        table.insert(one.held, table.remove(one.waits, 1))
        head = one.waits[1]
      end
    end
  end
end

--- The party that blocks a wait, among parties that wait for ever: a holder of units of its pool, or a party ahead of
--- it in the queue.
local function blockerOf(record, byId, all)
  local one = byId[record.poolId]
  for _, held in ipairs(one.held) do
    if all[partyOf(held)].waits > 0 then return held, 'HOLDS' end
  end
  local head = one.waits[1]
  if head ~= record then return head, 'AHEAD' end
end

--- A wait that a party still has.
local function waitOf(party, byId)
  for _, one in pairs(byId) do
    for _, record in ipairs(one.waits) do
      if partyOf(record) == party then return record end
    end
  end
end

--- The circle as tab-separated words. Each link has holder, session, the name of the pool it waits for, and how the
--- next link blocks it there: `HOLDS` or `AHEAD`. The last link repeats an earlier one.
local function words(record, byId, all)
  local list, seen = {}, {}
  local function add(one, poolName, reason)
    for _, word in ipairs({ one.holder, one.holderSession or '', poolName, reason }) do list[#list + 1] = word end
  end
  while true do
    local blocker, reason = blockerOf(record, byId, all)
    if not blocker then break end
    add(record, byId[record.poolId].name, reason)
    seen[partyOf(record)] = true
    if seen[partyOf(blocker)] then
      add(blocker, '', '')
      break
    end
    record = reason == 'AHEAD' and blocker or waitOf(partyOf(blocker), byId)
  end
  return table.concat(list, '\t')
end

--- The circle, in words, that a hold would close by waiting; nil if it closes none, or if the search is too large.
function circle.of(record)
  if not record.holderSession then return nil end
  local byId = pools(record)
  if not byId then return nil end
  table.insert(byId[record.poolId].waits, record)
  local all = parties(byId)
  settle(byId, all)
  for _, one in ipairs(byId[record.poolId].waits) do
    if one == record then return words(record, byId, all) end
  end
end
