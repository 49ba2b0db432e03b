--- A pool with its holds.
--- @request read
--- @args poolId
--- @reply pool:pool
--- @include lib/call pool/_pool
return call.answer({ pool = pool.view(poolId) })
