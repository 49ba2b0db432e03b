--- @export requires
--- @include lib/clock lib/id lib/invocation lib/queueTimer lib/records lib/refuse lib/sorted allowance/_allowance
--- @include allowance/_consumption mailbox/_message pool/_claimants pool/_pool pool/_serve
--- Requirements of a message: units of pools, which its claim holds, and of allowances, which each attempt consumes.
--- The record has them in `required`: `p` or `q`, the id and `:units` for each, separated by blanks. While it is
--- CLAIMED, `held` has `poolId:units:fence` for each pool, and `used` has `consumptionId:allowanceId:units` for each
--- allowance.
local requires = {}
local form = '([pq])(%S+):(%d+)'
local kinds = { p = 'POOL', q = 'ALLOWANCE' }

--- Calls `each(kind, id, units)` for each requirement until one call returns something; returns that.
function requires.each(text, each)
  for letter, id, units in string.gmatch(text, form) do
    local found = each(kinds[letter], id, tonumber(units))
    if found ~= nil then return found end
  end
end

--- The units required of this pool or allowance.
function requires.unitsOf(text, wantedId)
  return requires.each(text, function(_, id, units) return id == wantedId and units or nil end)
end

--- Refuses a requirement that can never be met.
function requires.need(text)
  requires.each(text, function(kind, id, units)
    local record = kind == 'POOL' and pool.load(id, 'units') or kind == 'ALLOWANCE' and allowance.load(id, 'unitsLimit')
    if not record and kind == 'POOL' then refuse('POOL_NOT_FOUND', 'requires') end
    if not record then refuse('ALLOWANCE_NOT_FOUND', 'requires') end
    local limit = kind == 'POOL' and record.units or record.unitsLimit
    if units > limit then refuse('UNITS_EXCEED_LIMIT', kind == 'POOL' and 'pool ' .. limit or limit) end
  end)
end

--- True if one of the pools no longer exists; nil if all do.
function requires.gone(text)
  return requires.each(text, function(kind, id) return kind == 'POOL' and not pool.load(id, 'units') or nil end)
end

--- Counts a live message in the pools it requires, which protects them from being deleted.
function requires.count(text, change)
  requires.each(text, function(kind, id)
    if kind == 'POOL' then records.add(keys.pool(id), 'requiredBy', change) end
  end)
end

--- The units available at the time `at` (nil: now): none while others wait in the queue of the pool or allowance, as
--- they come first. For an allowance that nobody waits for, also the moment from which more may be available.
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

--- The first requirement that is not available: its kind, its id, and the moment from which it may be; nil if all are
--- available.
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

--- Takes all units that a message requires; they must be available. The ids of its consumptions get the random part of
--- its own id.
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
    for poolId, fence in string.gmatch(record.held, '(%S+):%d+:(%d+)') do
      sorted.add(keys.poolClaims(poolId), fence, record.id)
    end
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
    list[i] = { id = id, scopeId = record.scopeId, holder = record.holder, holderSession = record.holderSession,
      units = tonumber(units) }
  end
  return list
end

--- The claim of a message has ended at `at`: frees its pool units and serves the waiters for them. In a sweep the
--- pool's own timer serves them, due at that moment, because its steps are bounded.
function requires.give(record, at)
  local held = message.load(record.id, 'held', 'used')
  if held.used then records.set(record, 'used', false) end
  if not held.held then return end
  local text = held.held
  records.set(record, 'held', false)
  -- Free all of them first, as a waiting message may require several.
  for poolId, units in string.gmatch(text, '(%S+):(%d+):%d+') do
    sorted.remove(keys.poolClaims(poolId), record.id)
    pool.give(pool.read(poolId), tonumber(units))
  end
  for poolId in string.gmatch(text, '(%S+):%d+:%d+') do
    if invocation.script then
      serveHolds(poolId, at, 100)
    else
      queueTimer.serve('pool:grant', poolId, at)
    end
  end
end
