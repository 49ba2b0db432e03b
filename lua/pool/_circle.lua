--- @export circle
--- @include lib/sorted pool/_claimants pool/_hold pool/_holders pool/_pool
--- Whether a wait could ever end. Everybody who waits for nothing is taken to release all they hold; then those whom that lets
--- in are taken to do the same, and so on. Whoever still waits at the end waits for ever: those hold what the others want.
---
--- A party is a holder with a session (pool/_holders), or a hold without one by itself, of which nothing else is known.
local circle = {}
local maxLooks = 200

--- A pool with what is held of it and who waits for it, in order; nil where that is too much to look at.
local function look(poolId, looks)
  local held, waits = sorted.front(keys.heldHolds(poolId), looks + 1), sorted.front(keys.liveHolds(poolId), looks + 1)
  local claims = claimants.of(poolId, looks)
  local count = #held / 2 + #claims + #waits / 2
  if count > looks then return nil end
  local record = pool.load(poolId, 'name', 'units', 'heldUnits')
  local found = { name = record.name, free = record.units - record.heldUnits, held = {}, waits = {} }
  for i = 1, #held, 2 do table.insert(found.held, hold.read(held[i])) end
  for _, claim in ipairs(claims) do table.insert(found.held, claim) end
  for i = 1, #waits, 2 do table.insert(found.waits, hold.read(waits[i])) end
  return found, count
end

local function partyOf(record)
  return holders.of(record) or record.id
end

--- The pools that matter: the one that `record` would wait for, and those that their holders and waiters wait for in turn. nil
--- where there are too many holds in them.
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

--- How many waits each party has, and what it holds, as lists of { pool, units }.
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

--- Releases what can be released, and lets in whom that lets in, until nothing more changes.
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
        table.remove(one.waits, 1)
        head = one.waits[1]
      end
    end
  end
end

--- Who keeps a wait from ending, of those that wait for ever: who holds units of the pool, or stands before it there.
local function blockerOf(record, byId, all)
  local one = byId[record.poolId]
  for _, held in ipairs(one.held) do
    if all[partyOf(held)].waits > 0 then return held, 'HOLDS' end
  end
  local head = one.waits[1]
  if head ~= record then return head, 'AHEAD' end
end

--- What a party waits for still.
local function waitOf(party, byId)
  for _, one in pairs(byId) do
    for _, record in ipairs(one.waits) do
      if partyOf(record) == party then return record end
    end
  end
end

--- The circle as words with tabs between: for each in it holder, session, the name of the pool that it waits for, and `HOLDS`
--- or `AHEAD`, which says what the next one does there. The last is one of those before.
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

--- The circle that a hold would close by waiting, in words; nil where it closes none, or none that is looked for.
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
