--- @include "lib/clock"
--- The organization's audit trail: what was changed, by which key or the CLI. Its entry ids carry the moment.
local function audit(action, actor, target, detail)
  local reply = redis.pcall('XADD', keys.audit(), now .. '-*', 'action', action, 'actor', actor, 'target', target, 'detail', detail)
  if reply.err then
    redis.call('XADD', keys.audit(), '*', 'action', action, 'actor', actor, 'target', target, 'detail', detail)
  end
end
