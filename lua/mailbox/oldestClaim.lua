--- For metrics, without a caller: when the oldest of at most `maxClaims` claims was made, of those whose leases end at
--- `from` or later, without the first `skip` of them. Absent if there is none. next, skipped: where the next page
--- begins; absent after the last. A renewed claim moves on to a later page, so none is missed.
--- @args spaceId requestId from skip maxClaims
--- @reply claimedAt next skipped
--- @include lib/records lib/space mailbox/_message
if not keyspace.find() then return {} end
local found = redis.call('ZRANGE', keys.claims(), from, '+inf', 'BYSCORE', 'LIMIT', skip, maxClaims, 'WITHSCORES')
local claimedAt
local last, atLast = found[#found], 0
for n = 1, #found, 2 do
  local record = message.load(found[n], 'claimedAt')
  if record and record.claimedAt then claimedAt = math.min(claimedAt or math.huge, record.claimedAt) end
  if found[n + 1] == last then atLast = atLast + 1 end
end
if #found < 2 * maxClaims then return { claimedAt = claimedAt } end
return { claimedAt = claimedAt, next = last, skipped = last == from and skip + atLast or atLast }
