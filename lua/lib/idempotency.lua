--- @include lib/caller lib/clock lib/day lib/id lib/invocation lib/maps lib/space lib/unit
--- @export idempotency
--- The answers of requests with an Idempotency-Key, kept for 24 hours: one hash per day, deleted as a whole. A key per
--- request with an expiry would take three times the memory. A stored answer has 10 characters of the request's
--- fingerprint, 4 bytes of time (milliseconds since the start of the day before), and the values as MessagePack: a
--- list, or the bare values if there are few. An id that the call made starts with the same time, so its start is cut
--- out; the upper 4 bits of the time say where. At the end stand 7 characters of the caller's name and a byte that ends
--- no MessagePack of ours; an answer without them is from an earlier version, which kept one answer for all callers. A
--- send takes 56 bytes in all.
---
--- The key of an answer is the digest of the Idempotency-Key. Only if an answer of another caller is there does the
--- name follow the digest. So a request looks in the same place as in earlier versions, and both serve a store
--- together.
local idempotency, windowMs = {}, 86400000
--- Greater than the number of milliseconds in two days.
local cutBit = 2 ^ 28
--- The hash of the current day, and the current time as an offset in it.
local todaysKey, todaysMoment
--- The last call's day and the prefix of its keys; the day before and its hash.
local lastDay, lastPlace, dayBefore, earlierKey
--- The time of the last answer stored, and its stored form.
local stampedMoment, stampedCut, stampedText
--- The last caller's name, as stored, and with the byte behind it; the digests under which another caller's answers of
--- today are.
local lastName, callersName, ending, taken
local nameLength, lastByte = 7, '\192'
local named = '[%w_-][%w_-][%w_-][%w_-][%w_-][%w_-][%w_-]' .. lastByte .. '$'

--- The moment that the times in a day's hash count from.
local function startOf(number) return (number - 1) * windowMs end

--- Finds the current day and the one before, once per space and invocation. If the clock went back past midnight, the
--- later day stays current, as in lib/usage. Calls without a space have hashes of their own.
local function enterDay()
  local current = spaceRoot and keyspace.record.usageDay
  if current ~= today and current ~= string.format('%d', today + 1) then current = today end
  local place = spaceRoot or keys.org()
  if lastDay ~= current or lastPlace ~= place then
    lastDay, lastPlace, dayBefore = current, place, string.format('%d', current - 1)
    if spaceRoot then
      todaysKey, earlierKey = keys.idempotency(current), keys.idempotency(dayBefore)
    else
      todaysKey, earlierKey = keys.orgIdempotency(current), keys.orgIdempotency(dayBefore)
    end
  end
  todaysMoment = now - startOf(current)
  local name = caller.name()
  if lastName ~= name then
    lastName, callersName = name, string.sub(name, 1, nameLength)
    ending = callersName .. lastByte
  end
  taken = nil
  invocation.answersIn = spaceRoot
end

--- Whether an answer is for the caller: its own, or one of an earlier version.
local function isForCaller(entry)
  return string.sub(entry, -#ending) == ending or not string.find(entry, named)
end

--- A name for the current caller's Idempotency-Key. digest: of the key.
function idempotency.named(digest)
  return digest .. string.sub(caller.name(), 1, nameLength)
end

--- The fingerprint of the caller's earlier request with this key and the list that answered it; nil if there was none
--- within 24 hours.
function idempotency.find(digest)
  if invocation.answersIn ~= spaceRoot then enterDay() end
  local current, entry = lastDay, maps.get(todaysKey, digest)
  if entry and not isForCaller(entry) then
    taken = taken or {}
    taken[digest] = true
    entry = maps.get(todaysKey, digest .. callersName)
  end
  if not entry then
    current, entry = dayBefore, redis.call('HGET', earlierKey, digest)
    if entry and not isForCaller(entry) then entry = redis.call('HGET', earlierKey, digest .. callersName) end
    if not entry then return nil end
  end
  local stamp = struct.unpack('>I4', entry, 11)
  local at = startOf(current) + stamp % cutBit
  if now - at >= windowMs then return nil end
  local cut, values = math.floor(stamp / cutBit), string.sub(entry, 15)
  if cut > 0 then values = string.sub(values, 1, cut - 1) .. idHead(at) .. string.sub(values, cut) end
  if string.sub(entry, -1) == lastByte and string.find(entry, named) then
    values = string.sub(values, 1, -1 - #ending)
  end
  local list = { '', cmsgpack.unpack(values) }
  return string.sub(entry, 1, 10), type(list[2]) == 'table' and list[2] or list
end

--- Stores the answer of a request for which `find` found none. fingerprint: 10 characters. list: the answer, starting
--- with its note.
function idempotency.keep(digest, fingerprint, list)
  local few = #list > 1 and #list < 5 and type(list[2]) ~= 'table' and type(list[#list]) ~= 'table'
  local values = few and cmsgpack.pack(unpack(list, 2)) or cmsgpack.pack(list)
  local head = few and currentHead()
  local cut = head and string.find(values, head, 1, true)
  local rest = ''
  if cut and cut < 16 then
    values, rest = string.sub(values, 1, cut - 1), string.sub(values, cut + #head)
  else
    cut = 0
  end
  -- Most answers of an invocation share their stamp.
  if stampedMoment ~= todaysMoment or stampedCut ~= cut then
    stampedMoment, stampedCut, stampedText = todaysMoment, cut, struct.pack('>I4', todaysMoment + cut * cutBit)
  end
  local answer = fingerprint .. stampedText .. values .. rest .. ending
  local field = taken and taken[digest] and digest .. callersName or digest
  if spaceRoot then
    maps.put(todaysKey, field, answer)
  else
    -- Commands are written in order, and PEXPIRE needs the key.
    unit.command('HSET', todaysKey, field, answer)
    unit.command('PEXPIRE', todaysKey, 2 * windowMs)
  end
end
