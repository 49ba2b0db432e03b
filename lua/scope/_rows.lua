--- @include "budget/_reservation"
--- @include "barrier/_barrier"
--- @include "allowance/_waiter"
--- @include "mailbox/_run"
--- @include "group/_run"
--- Records of every room as their lists give them, without payloads.
local rowOf = {}

rowOf.message = inRun.messages.row

function rowOf.reservation(id)
  local record = reservation.read(id)
  return { record.budgetId, reservation.row(record) }
end

function rowOf.barrier(id)
  local record = barrier.read(id)
  return { record.scopeId, record.state, record.epoch, record.arrivals, record.target, record.releasedAt or false, id }
end

function rowOf.waiter(id)
  return { id, waiter.view(id) }
end

rowOf.group = inRun.groups.row
