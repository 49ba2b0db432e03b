--- @record consumption
--- @include lib/clock lib/finished lib/id lib/maps lib/records lib/sorted lib/unit allowance/_allowance
--- @include allowance/_waiter scope/_scope
--- Consumptions: their effect on the records of the allowance and the scope, and their storage. A consumption has no
--- record of its own: it is a member of the organization's finished set and, if it has a workKey, the answer stored for
--- replays.

--- Whether anyone waits for units of the allowance. Cached until the invocation changes the queue.
function consumption.isWaitedFor(record)
  local key = keys.liveWaiters(record.id)
  if unit.isChanged(key) then return not sorted.isEmpty(key) end
  if record.waitedFor == nil then record.waitedFor = redis.call('EXISTS', key) == 1 end
  return record.waitedFor
end

--- Consumes units (as text) of the allowance `source` (from allowance.read), which must have them. Counts them in the
--- record of the scope, which must exist, and stores the member by which retention removes the consumption. Returns the
--- units left.
function consumption.make(id, source, scopeId, units, workKey)
  local number = tonumber(units)
  allowance.use(source, number)
  local record = scope.load(scopeId, 'consumptions', 'consumedUnits')
  records.set(record, 'consumptions', record.consumptions + 1)
  records.set(record, 'consumedUnits', record.consumedUnits + number)
  local member = id .. ' ' .. source.id .. ' ' .. scopeId .. ' ' .. units
  finished.add('allowance:consumption', workKey == '' and member or member .. ' ' .. workKey, nowText)
  local availableUnits = source.unitsLimit - source.usedUnits
  emit.allowance.consumed(source.id, { scopeId = scopeId, consumptionId = id, units = units,
    availableUnits = availableUnits })
  return availableUnits
end

--- Parses a member that `make` added. settledUnits is nil until the consumption is settled.
function consumption.parse(member)
  local allowanceId, scopeId, units, settled, workKey = string.match(member, '^%S+ (%S+) (%S+) (%d+)/?(%d*) ?(.*)$')
  return { member = member, allowanceId = allowanceId, scopeId = scopeId, units = tonumber(units),
    settledUnits = tonumber(settled), workKey = workKey }
end

--- A consumption of the allowance, or the grant of one of its waiters; nil if there is none. `at`: when it was made.
function consumption.find(allowanceId, id)
  local granted = waiter.load(id, 'allowanceId', 'scopeId', 'state', 'units', 'grantedAt', 'settledUnits')
  if granted then
    if granted.allowanceId ~= allowanceId or granted.state ~= 'GRANTED' then return nil end
    return { waiter = granted, at = granted.grantedAt, scopeId = granted.scopeId, units = granted.units,
      settledUnits = granted.settledUnits }
  end
  local at = momentOf(id)
  local member = finished.find('allowance:consumption', id .. ' ', string.format('%d', at))
  local found = member and consumption.parse(member)
  if not found or found.allowanceId ~= allowanceId then return nil end
  found.at = at
  return found
end

--- Records the units that a consumption or grant has really used, and for a consumption corrects the sum of its run.
function consumption.settle(found, units)
  if found.waiter then
    records.set(found.waiter, 'settledUnits', units)
    return
  end
  local rest = found.workKey == '' and '' or ' ' .. found.workKey
  local before = string.sub(found.member, 1, #found.member - #rest)
  local score = string.format('%d', found.at)
  finished.remove('allowance:consumption', found.member)
  finished.add('allowance:consumption', before .. '/' .. string.format('%d', units) .. rest, score)
  records.add(keys.scope(found.scopeId), 'consumedUnits', units - found.units)
end

--- Stores a consumption's answer under its workKey, for replays.
function consumption.store(id, allowanceId, scopeId, units, workKey, windowEndsAt, availableUnits, holder)
  local first = id .. ' ' .. scopeId .. ' ' .. units .. ' ' .. windowEndsAt .. ' ' .. availableUnits .. ' ' .. holder
  maps.put(keys.consumptionKeys(allowanceId), workKey, first)
end

--- The first consumption with this workKey; nil if there is none.
function consumption.first(allowanceId, workKey)
  local first = maps.get(keys.consumptionKeys(allowanceId), workKey)
  if not first then return nil end
  local id, scopeId, units, windowEndsAt, availableUnits, holder =
    string.match(first, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return { id = id, scopeId = scopeId, units = units, windowEndsAt = windowEndsAt, availableUnits = availableUnits,
    holder = holder }
end
