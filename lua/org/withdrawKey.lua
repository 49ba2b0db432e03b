--- Revokes an API key with no more rights than the caller's. Repeating it changes nothing.
--- @request org
--- @args keyId
--- @reply
--- @include lib/call lib/caller lib/refuse org/_apiKey
local own, record = apiKey.load(caller.digest()), apiKey.find(keyId)
if not record or apiKey.beyond(record, own) then refuse('KEY_NOT_FOUND') end
apiKey.revoke(record, own.keyId)
return call.answer()
