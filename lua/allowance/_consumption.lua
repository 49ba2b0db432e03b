--- @record consumption
--- @include lib/clock lib/finished lib/invocation lib/maps lib/records lib/sorted scope/_scope
--- What a consumption changes in the records of its allowance and scope, and what is stored of it. It has no record of its
--- own: a member of the organization's finished set, and what its workKey replays.

--- Whether anyone waits for units of the allowance. Kept, because only in an atomic batch an invocation may add a waiter.
function consumption.isWaitedFor(record)
  if record.waitedFor == nil or invocation.isWhole then record.waitedFor = not sorted.isEmpty(keys.liveWaiters(record.id)) end
  return record.waitedFor
end

--- Counts a consumption in the record of its scope, which exists.
function consumption.countIn(scopeId, units)
  local record = scope.load(scopeId, 'consumptions', 'consumedUnits')
  records.set(record, 'consumptions', record.consumptions + 1)
  records.set(record, 'consumedUnits', record.consumedUnits + units)
end

--- Adds a finished consumption, with all that retention needs to remove it.
function consumption.finish(id, allowanceId, scopeId, units, workKey)
  local member = id .. ' ' .. allowanceId .. ' ' .. scopeId .. ' ' .. units
  finished.add('allowance:consumption', workKey == '' and member or member .. ' ' .. workKey, nowText)
end

--- Parses what `finish` has added.
function consumption.parse(member)
  local allowanceId, scopeId, units, workKey = string.match(member, '^%S+ (%S+) (%S+) (%d+) ?(.*)$')
  return { allowanceId = allowanceId, scopeId = scopeId, units = units, workKey = workKey }
end

--- Stores under its workKey what a replay answers.
function consumption.store(id, allowanceId, scopeId, units, workKey, windowEndsAt, availableUnits, holder)
  local first = id .. ' ' .. scopeId .. ' ' .. units .. ' ' .. windowEndsAt .. ' ' .. availableUnits .. ' ' .. holder
  maps.put(keys.consumptionKeys(allowanceId), workKey, first)
end

--- The first consumption with this workKey; nil if there is none.
function consumption.first(allowanceId, workKey)
  local first = maps.get(keys.consumptionKeys(allowanceId), workKey)
  if not first then return nil end
  local id, scopeId, units, windowEndsAt, availableUnits, holder = string.match(first, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return { id = id, scopeId = scopeId, units = units, windowEndsAt = windowEndsAt, availableUnits = availableUnits, holder = holder }
end
