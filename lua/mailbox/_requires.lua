--- @export requires
--- @include lib/clock lib/id lib/invocation lib/records lib/refuse lib/soon lib/sorted allowance/_allowance
--- @include allowance/_consumption mailbox/_message pool/_claimants pool/_pool pool/_serve
--- What a message requires: units of pools, which its claim holds, and of allowances, which each attempt uses. The record has
--- them in `required`: `p` or `q`, the id and `:units` for each, with blanks between. While it is CLAIMED, `held` has
--- `poolId:units:fence` for each pool, and `used` `consumptionId:allowanceId:units` for each allowance.
local requires = {}
local form = '([pq])(%S+):(%d+)'
local kinds = { p = 'POOL', q = 'ALLOWANCE' }

--- Calls `each(kind, id, units)` for each of them, until that returns something; returns it.
function requires.each(text, each)
  for letter, id, units in string.gmatch(text, form) do
    local found = each(kinds[letter], id, tonumber(units))
    if found ~= nil then return found end
  end
end

--- How many units of this pool or allowance it wants.
function requires.unitsOf(text, wantedId)
  return requires.each(text, function(_, id, units) return id == wantedId and units or nil end)
end

--- Refuses what can never be had.
function requires.need(text)
  requires.each(text, function(kind, id, units)
    local record = kind == 'POOL' and pool.load(id, 'units') or kind == 'ALLOWANCE' and allowance.load(id, 'unitsLimit')
    if not record and kind == 'POOL' then refuse('POOL_NOT_FOUND', 'requires') end
    if not record then refuse('ALLOWANCE_NOT_FOUND', 'requires') end
    local limit = kind == 'POOL' and record.units or record.unitsLimit
    if units > limit then refuse('UNITS_EXCEED_LIMIT', limit) end
  end)
end

--- The first pool that is no more; nil where all are there.
function requires.gone(text)
  return requires.each(text, function(kind, id) return kind == 'POOL' and not pool.load(id, 'units') or nil end)
end

--- Counts a live message at the pools that it requires: they cannot be deleted.
function requires.count(text, change)
  requires.each(text, function(kind, id)
    if kind == 'POOL' then records.add(keys.pool(id), 'requiredBy', change) end
  end)
end

--- How many units can be had at the time `at` (nil: now); of an allowance also the moment from which more can, unless
--- somebody waits for it. Who waits by itself comes first.
function requires.available(kind, id, at)
  if kind == 'POOL' then
    local record = pool.read(id)
    return sorted.isEmpty(keys.liveHolds(id)) and record.units - record.heldUnits or 0
  end
  local record = allowance.read(id, at or now)
  if not sorted.isEmpty(keys.liveWaiters(id)) then return 0 end
  if record.cooldownUntil then return 0, record.cooldownUntil end
  return allowance.available(record), record.windowEndsAt
end

--- The kind and the id of the first that is short, and the moment from which it may not be; nil where all can be had.
function requires.short(text, at)
  local lackKind, lackId, lackAt
  requires.each(text, function(kind, id, units)
    local available, moreAt = requires.available(kind, id, at)
    if units <= available then return nil end
    lackKind, lackId, lackAt = kind, id, moreAt
    return true
  end)
  return lackKind, lackId, lackAt
end

--- Takes all that a message requires, which can be had. place: the id of the message, whose random part those of its
--- consumptions have, too.
function requires.take(record)
  local held, used, tail = {}, {}, string.sub(record.id, 16, 35)
  requires.each(record.required, function(kind, id, units)
    if kind == 'POOL' then
      held[#held + 1] = id .. ':' .. units .. ':' .. string.format('%d', pool.take(pool.read(id), units))
    else
      local consumptionId = newId(tail .. #used)
      consumption.make(consumptionId, allowance.read(id, now), record.scopeId, string.format('%d', units), '')
      used[#used + 1] = consumptionId .. ':' .. id .. ':' .. units
    end
  end)
  if held[1] then
    records.set(record, 'held', table.concat(held, ' '))
    for poolId, fence in string.gmatch(record.held, '(%S+):%d+:(%d+)') do sorted.add(keys.poolClaims(poolId), fence, record.id) end
  end
  if used[1] then records.set(record, 'used', table.concat(used, ' ')) end
end

function claimants.of(poolId, last)
  local list = {}
  local claims = sorted.front(keys.poolClaims(poolId), last + 1)
  for i = 1, #claims / 2 do
    local id = claims[2 * i - 1]
    local record = message.load(id, 'scopeId', 'holder', 'holderSession', 'held')
    local units = string.match(record.held, string.gsub(poolId, '%-', '%%-') .. ':(%d+)')
    list[i] = { id = id, scopeId = record.scopeId, holder = record.holder, holderSession = record.holderSession, units = tonumber(units) }
  end
  return list
end

--- The claim of a message is over since `at`: its pool units are free, and whoever waits for them is served. A sweep leaves that
--- to the pool's own timer, at that very moment, whose steps are bounded.
function requires.give(record, at)
  local held = message.load(record.id, 'held', 'used')
  if held.used then records.set(record, 'used', false) end
  if not held.held then return end
  local text = held.held
  records.set(record, 'held', false)
  -- All of them first: who waits may require several.
  for poolId, units in string.gmatch(text, '(%S+):(%d+):%d+') do
    sorted.remove(keys.poolClaims(poolId), record.id)
    pool.give(pool.read(poolId), tonumber(units))
  end
  for poolId in string.gmatch(text, '(%S+):%d+:%d+') do
    if invocation.script then
      serveHolds(poolId, at, 100)
    else
      soon.serve('pool:grant', poolId, at)
    end
  end
end
