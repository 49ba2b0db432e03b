--- @export waits
--- @include lib/closing lib/clock lib/count lib/hooks lib/maps lib/sorted mailbox/_mailbox mailbox/_others
--- Who waits for what. A *place* is what BLOCKED messages wait for: the letter of its kind and its id. While somebody
--- waits there, the place has a number, and a sorted set by that number has the messages, in the order in which they
--- began to wait. When it is over, it loses its number: whoever waits there afterwards is in another set, however long
--- workers need for the first one.
---
--- Prerequisites that are messages or groups have lists instead (mailbox/_prerequisite).
local waits = {}

--- The place for a version of a note.
function waits.ofNote(scopeId, key, version)
  return 'n' .. redis.sha1hex(scopeId .. ' ' .. key) .. ':' .. version
end

--- Adds a message to those that wait at a place. Returns the number of their set.
function waits.join(place, messageId)
  local number = maps.get(keys.waits(), place)
  if not number then
    count.space('waitSets', 1)
    number = string.format('%d', count.read('waitSets'))
    maps.put(keys.waits(), place, number)
  end
  sorted.add(keys.waiters(number), nowText, messageId)
  count.space('waiters', 1)
  return number
end

--- A message no longer waits at a place, in the set of this number.
function waits.leave(place, number, messageId)
  sorted.remove(keys.waiters(number), messageId)
  count.space('waiters', -1)
  if maps.get(keys.waits(), place) == number and sorted.isEmpty(keys.waiters(number)) then
    maps.remove(keys.waits(), place)
  end
end

--- The number of messages that wait at a place.
function waits.lengthOf(place)
  local number = maps.get(keys.waits(), place)
  return number and sorted.count(keys.waiters(number)) or 0
end

--- A place may be over. Whether it is, and for whom, is judged once the call or the atomic batch has made its changes.
--- cause: of the events, nil for the current request. endOfNote(): for a note, its state if it is over.
function waits.touch(place, cause, endOfNote)
  if count.read('waiters') == 0 then return end
  closing.add(function(at) dependents.settle(place, at, cause, endOfNote) end)
end

function awaited.scope(scopeId)
  if mailbox.anyBlocked() then waits.touch('s' .. scopeId) end
end
