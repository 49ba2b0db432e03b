--- Opens an atomic batch, whose calls follow in the same invocation (lib/serve): checks its caller, and whether it
--- repeats an earlier batch. batchDigest: of its Idempotency-Key, or ''. placeholders: of its references (lib/answers),
--- separated by spaces.
--- @request write
--- @args batchDigest placeholders
--- @reply
--- @include lib/answers lib/call lib/idempotency lib/refuse
local known, list
if batchDigest ~= '' then known, list = idempotency.find(batchDigest) end
if known and known ~= fingerprint then refuse('IDEMPOTENCY_KEY_REUSED') end
answers.begin(batchDigest, fingerprint, placeholders, list and { unpack(list, 2) })
return call.answer()
