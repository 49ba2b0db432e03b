--- @export cancelling
--- @include lib/clock lib/count lib/finished lib/hooks lib/records lib/space scope/_pausing scope/_scope
--- @include scope/_walk
--- The cancel of a run. Its first step marks the named scope; from then on everything below counts as cancelled
--- (scope.cancelOf). This step and further ones walk through the subtree, children before parents, end live records and
--- mark each scope. `cancelWalk` has their position: `scopeId kind lastId`.
local cancelling = {}
--- How many records of all states a step looks at.
local maxLooks = 1000
--- The kinds of records, sorted.
local kinds

local function kindAfter(name)
  if not kinds then
    kinds = {}
    for kind in pairs(cancels) do kinds[#kinds + 1] = kind end
    table.sort(kinds)
  end
  for _, kind in ipairs(kinds) do
    if kind > name then return kind end
  end
end

--- Marks a scope as cancelled. Returns the number of records changed.
local function mark(scopeId, at)
  local record = scope.load(scopeId, 'path', 'live', 'cancelledAt')
  if record.cancelledAt then return 0 end
  if count.read('paused') > 0 and scope.load(scopeId, 'paused').paused then
    records.set(record, 'paused', false)
    pausing.add(-1)
  end
  scope.enter({ state = scope.counted(record) }, 'CANCELLED')
  records.set(record, 'cancelledAt', at)
  finished.add('scope:scope', scopeId, string.format('%d', at))
  awaited.scope(scopeId)
  return 1
end

--- Cancels the run that starts with this scope. Returns its record.
function cancelling.start(scopeId)
  mark(scopeId, now)
  local cancel = scope.load(scopeId, 'path', 'live', 'cancelledAt', 'cancelWalk')
  records.set(cancel, 'cancelRequestId', requestId)
  records.set(cancel, 'cancelWalk', walk.first(scopeId) .. '  ')
  emit.scope.cancelled(scopeId, { scopeId = scopeId, state = 'CANCELLED' })
  return cancel
end

--- Ends records of one kind in one scope until `limit` have changed, looking at `most` at most. Returns how many have,
--- the last id looked at ('' if all were), and the number looked at.
local function stopSome(kind, scopeId, last, cancel, limit, most)
  local record, changed = scope.load(scopeId, 'path', 'live', 'cancelledAt'), 0
  local looks = math.min(most, 4 * limit)
  local ids = kind.ids(scopeId, last, looks)
  for i, id in ipairs(ids) do
    if kind.isLive and record.live == 0 then return changed, '', i end
    if changed >= limit then return changed, ids[i - 1] or last, i end
    changed = changed + kind.stop(id, cancel)
  end
  return changed, #ids == looks and ids[looks] or '', #ids
end

--- Continues a cancel until about `limit` records have changed. Returns how many have, and whether the cancel is
--- complete.
function cancelling.step(scopeId, limit)
  local cancel = scope.load(scopeId, 'path', 'live', 'cancelledAt', 'cancelWalk')
  local at, name, last = string.match(cancel.cancelWalk or '', '^(%S+) (%S*) (%S*)$')
  local changed, looked = 0, 0
  while at and changed < limit and looked < maxLooks do
    if last == '' then name = kindAfter(name) end
    if name then
      local stopped, through, looks = stopSome(cancels[name], at, last, cancel, limit - changed, maxLooks - looked)
      changed, last, looked = changed + stopped, through, looked + looks + 1
    else
      changed = changed + mark(at, cancel.cancelledAt)
      at, name, last = walk.next(at, scopeId), '', ''
      looked = looked + 1
    end
  end
  if cancel.cancelWalk then records.set(cancel, 'cancelWalk', at and at .. ' ' .. name .. ' ' .. last) end
  return changed, not at
end
