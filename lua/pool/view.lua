--- A pool, with the number of holds that wait for it.
--- @request read
--- @args poolId
--- @reply pool:pool
--- @include lib/call pool/_pool
return call.answer({ pool = pool.view(poolId) })
