--- @include "budget/_reservation"
--- @include "barrier/_barrier"
--- @include "allowance/_waiter"
--- @include "group/_group"
--- @include "group/_task"
--- Records of every room as their lists give them, without payloads.
local rowOf = {}

--- A message, or the tombstone of its task: its mailbox is named by another field then.
function rowOf.message(id)
  local row = redis.call('HMGET', keys.message(id), 'scopeId', 'taskId', 'groupId', 'taskKey', 'state', 'reason', 'attempts',
    'workKey', 'deadline', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt', 'finishedAt', 'mailboxId',
    'tombstoneOf')
  row[15] = row[15] or row[16]
  row[16] = id
  if row[2] == '' then row[2] = false else row[2] = row[2] or id end
  if row[5] ~= 'CLAIMED' then row[13] = false end
  return row
end

function rowOf.reservation(id)
  return rows.reservation(reservation.view(reservation.load(id)))
end

function rowOf.barrier(id)
  local record = barrier.read(id)
  return { record.scopeId, record.state, record.epoch, record.arrivals, record.target, record.releasedAt or false, id }
end

function rowOf.waiter(id)
  return rows.waiter(waiter.view(id))
end

--- A group with its members, but for their outcomes.
function rowOf.group(id)
  local record, members = group.read(id), {}
  for i, taskId in ipairs(redis.call('ZRANGE', keys.groupMembers(id), 0, -1)) do
    local member = redis.call('HMGET', keys.task(taskId), 'messageId', 'taskKey', 'verdict', 'deadline', 'state', 'reason', 'attempts')
    if not member[5] then
      local state, attempts = unpack(redis.call('HMGET', keys.message(member[1]), 'state', 'attempts'))
      member[5], member[7] = task.state(state), attempts or '0'
    end
    member[8], member[9] = false, taskId
    members[i] = member
  end
  return { record.values, members, id }, #members
end
