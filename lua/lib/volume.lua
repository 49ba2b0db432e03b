--- @export volume
--- @space maxRetainedBytes retainedBytes
--- @include lib/count lib/plan lib/refuse lib/space
--- The limit of the bytes that a space keeps: its own or the plan's, whichever is lower. Only what adds work is refused
--- for it, never what ends it, so a space may hold somewhat more.
local volume = {}

--- The limit, if `more` bytes would exceed it; else false.
function volume.lack(more)
  local limit = math.min(keyspace.record.maxRetainedBytes or math.huge, plan.retainedBytes or math.huge)
  local used = tonumber(count.ofSpace(keyspace.record, 'retainedBytes') or 0)
  return more > 0 and used + more > limit and string.format('%d', limit)
end

--- Refuses what adds `more` bytes if the space may not keep them.
function volume.need(more)
  if not keyspace.record.maxRetainedBytes and not plan.retainedBytes then return end
  local limit = volume.lack(more)
  if limit then refuse('RETAINED_BYTES_EXCEEDED', limit) end
end
