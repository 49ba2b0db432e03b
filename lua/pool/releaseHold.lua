--- Releases a HELD hold and serves the waiters for its units. Repeating it changes nothing. isForced '1': without the
--- token.
--- @request write
--- @args holdId token isForced
--- @reply hold:hold
--- @include lib/audit lib/call lib/caller lib/clock lib/refuse pool/_cancel pool/_hold pool/_queue pool/_serve
--- @include scope/_scope
local record = hold.whole(holdId)
if isForced == '1' then token = record.token end
local cancel = record.state == 'HELD' and record.token == token and scope.cancelFor(record)
if cancel then hold.unqueue(record, cancel) end
if record.state == 'RELEASED' and record.token == token then
  return call.answer({ hold = hold.shown(record) }, 'syscall')
end
hold.check(record, token)

record.forced = isForced == '1'
hold.finish(record, 'RELEASED', now, emit.hold.released)
if record.forced then audit('hold.released', caller.actor(), holdId, inSpace()) end
serveHolds(record.poolId, now, 100)
return call.answer({ hold = hold.shown(record) }, 'operation')
