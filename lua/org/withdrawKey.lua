--- Revokes an API key that gives no more than the caller's. Again changes nothing.
--- @request org
--- @args keyId
--- @reply
--- @include lib/call lib/caller lib/refuse org/_apiKey
local own, record = apiKey.load(caller.digest()), apiKey.find(keyId)
if not record or apiKey.beyond(record, own) then refuse('KEY_NOT_FOUND') end
apiKey.revoke(record, own.keyId)
return call.answer()
