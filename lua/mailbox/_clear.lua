--- @export clearFinished
--- @include lib/plan lib/unit group/_group mailbox/_mailbox mailbox/_message mailbox/_packed mailbox/_remove
--- @include scope/_scope
--- Removes finished messages before their retention ends.

local scanLimit = 1000

--- Whether a message has ended and nothing needs its record: verdicts are given on the members of an undecided group.
local function isRemovable(id, scopeId)
  local record = message.load(id, 'mailboxId', 'scopeId', 'state', 'groupId', 'place')
  return record and record.mailboxId and not message.isLive(record) and message.isBelow(id, scopeId)
    and (not record.groupId or group.load(record.groupId, 'state').state == 'DECIDED')
end

--- Removes at most `max` finished messages of a mailbox, oldest first, as retention does: tasks leave tombstones. With
--- a scopeId, only messages of its subtree. A step looks at 1,000 messages. Returns the number removed, and the last
--- message looked at if there are more. A packed message is unpacked first: its segment goes at its own time.
local function clearFinished(mailboxId, scopeId, max, cursor)
  local ids = idsOf(mailboxId, cursor, scanLimit + 1)
  packed.ahead(ids, 1)
  local chosen, last, more = {}, cursor, false
  for i, id in ipairs(ids) do
    local damaged = packed.damaged(id)
    if damaged and not chosen[1] then
      packed.refuseDamaged(damaged, packed.lastDamaged(damaged, idsOf(mailboxId, last, damaged.count)))
    end
    if damaged or i > scanLimit or #chosen == max then
      more = true
      break
    end
    if isRemovable(id, scopeId) then chosen[#chosen + 1] = id end
    last = id
  end
  if chosen[1] then plan.needOperation() end
  packed.ahead(chosen, 1)
  for _, id in ipairs(chosen) do message.unpack(message.load(id, 'mailboxId')) end
  -- Only now, as a call that is made again must not have written anything.
  unit.write()
  for _, id in ipairs(chosen) do message.removeOld(id, math.huge) end
  return #chosen, more and last or false
end
