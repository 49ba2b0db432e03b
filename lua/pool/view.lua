--- A pool, with what is held of it.
--- @request read
--- @args poolId
--- @reply pool:pool
--- @include lib/call pool/_pool
return call.answer({ pool = pool.view(poolId) })
