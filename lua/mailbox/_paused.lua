--- @export turns paused
--- @space withheld
--- @include lib/again lib/clock lib/count lib/hooks lib/invocation lib/journal lib/maps lib/records lib/sorted
--- @include lib/space lib/timer lib/unit mailbox/_mailbox mailbox/_message scope/_pausing scope/_scope
--- The order in which runs take turns when a receive asks for messages of all runs: one sorted set per mailbox of the
--- root scopes with READY messages. A root scope joins the back when it was served, or when it gets its first READY
--- message. The set is kept from the first such receive on; the mailbox's `turn` is the last score given, negative
--- while mailbox/_expire still copies the root scopes that were there before.
local turns = {}

--- Moves a root scope with READY messages to the back.
function turns.join(mailboxId, rootId)
  local box = mailbox.load(mailboxId, 'turn')
  if not box.turn then return end
  records.set(box, 'turn', box.turn + (box.turn < 0 and -1 or 1))
  sorted.add(keys.turns(mailboxId), string.format('%d', math.abs(box.turn)), rootId)
end

--- The head of a root scope moves to an earlier time, perhaps past those that are still to be copied.
function turns.keep(mailboxId, rootId)
  local turn = mailbox.load(mailboxId, 'turn').turn
  if turn and turn < 0 and not sorted.score(keys.turns(mailboxId), rootId) then turns.join(mailboxId, rootId) end
end

--- Removes a root scope without READY messages.
function turns.leave(mailboxId, rootId)
  if mailbox.load(mailboxId, 'turn').turn then sorted.remove(keys.turns(mailboxId), rootId) end
end

--- Paused mailboxes and scopes. A receive passes over their messages, which keep their places in the queues. `paused`
--- in the space's record counts the pauses (lua/mailbox/_mailbox: `withheld`).
---
--- A receive looks at a few hundred messages. If more are paused, background steps continue the search. `passed`
--- keeps for each queue the last member that need not be looked at again; a later receive starts after it. It is
--- dropped whenever something is paused or resumed.
local paused = {}
local lookLimit, stepLimit = 256, 500
--- The most runs that a receive passes over.
local maxRuns = 100

function paused.any()
  if keyspace.record.withheld == 0 and not invocation.hasWithheld then return false end
  return count.read('paused') > 0
end

--- The first paused scope on a path; nil if there is none.
function paused.scopeOn(path)
  for _, id in ipairs(path) do
    if scope.load(id, 'path', 'paused').paused then return id end
  end
end

--- The mailbox if it is paused, or else the first paused scope on the path; nil if neither. path may be nil.
function paused.by(mailboxId, path)
  if mailbox.load(mailboxId, 'paused').paused then return mailboxId end
  return path and paused.scopeOn(path)
end

--- Looks for the first message of a queue that is not paused, at no more than `limit`. Returns the member and its
--- score, nil if it has found none; the last member that need not be looked at again, '' if there is none; whether
--- there are more to look at; and how many it has looked at.
local function look(mailboxId, scopeId, limit)
  local passed = maps.get(keys.passed(), mailboxId .. ' ' .. scopeId) or ''
  local entries = sorted.behind(keys.ready(mailboxId, scopeId), passed, limit + 1)
  for i = 1, #entries, 2 do
    local member, at = entries[i], entries[i + 1]
    if i > 2 * limit then return nil, nil, passed, true, limit end
    local path = scope.path(message.load(string.sub(member, -36), 'scopeId').scopeId)
    if not paused.scopeOn(path) then return member, at, passed, false, (i + 1) / 2 end
    -- Messages may still be added in the current millisecond.
    if tonumber(at) < now then passed = member end
  end
  return nil, nil, passed, false, #entries / 2
end

--- The name of the timer that continues the search of a queue.
local function searchOf(mailboxId, scopeId)
  return timer.named('mailbox:passed', mailboxId .. ' ' .. scopeId)
end

--- The first message of a queue that is not paused, and its score; nil if there is none.
local function first(mailboxId, scopeId)
  local member, at, _, more = look(mailboxId, scopeId, lookLimit)
  if more then again('DUE', searchOf(mailboxId, scopeId)) end
  return member, at
end

--- The next run in turn with a message that is not paused, the message and its score. Runs without such a message go to
--- the back. If there are too many messages to look at, all these runs are searched before the receive goes on.
local function firstOfAll(mailboxId)
  local seen, left, searches = {}, lookLimit, {}
  for _ = 1, maxRuns do
    local rootId = sorted.first(keys.turns(mailboxId))
    if not rootId or seen[rootId] then break end
    seen[rootId] = true
    if not scope.load(rootId, 'path', 'paused').paused then
      local member, at, _, more, looked = look(mailboxId, rootId, left)
      if member and not searches[1] then return rootId, member, at end
      if more then searches[#searches + 1] = searchOf(mailboxId, rootId) end
      left = left - looked
    end
    turns.join(mailboxId, rootId)
  end
  if searches[1] then again('DUE', table.concat(searches, ';')) end
end

--- The next message for a receive: its queue (for '*', the queue of the run in turn), its member and its score.
function paused.next(mailboxId, queue)
  if queue == '*' then return firstOfAll(mailboxId) end
  return queue, first(mailboxId, queue)
end

--- A message has become ready as of a past moment, so receives look at its queues from the start again.
function paused.forget(mailboxId, path)
  for _, scopeId in ipairs(path) do maps.remove(keys.passed(), mailboxId .. ' ' .. scopeId) end
end

due['mailbox:passed'] = function(queue, _, limit)
  local mailboxId, scopeId = string.match(queue, '^(%S+) (%S+)$')
  local _, _, passed, more = look(mailboxId, scopeId, stepLimit)
  if passed ~= '' then maps.put(keys.passed(), queue, passed) end
  if not more then return 1 end
  timer.armInBackground('mailbox:passed', queue, now)
  return limit
end

function pausing.changed()
  unit.delete(keys.passed())
end

--- Wakes the receives of the 1,000 mailboxes whose READY messages are oldest.
function pausing.resumed()
  local ready = sorted.front(keys.oldestReady(), 1000)
  for i = 1, #ready, 2 do journal.wake(ready[i] .. '/') end
end
