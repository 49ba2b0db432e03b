--- Creates a destination. verdict: Node's check of the url's host, `ok` or the forbidden address. '' before the check:
--- the script then replies URL_UNCHECKED without writing anything and is called again. eventTypes: `*` or
--- `,type,prefix.*,`.
--- detail: for the audit trail.
--- @request write
--- @args url eventTypes signingSecret tail verdict detail
--- @reply id signingSecret
--- @include lib/again lib/audit lib/call lib/caller lib/id lib/plan lib/refuse lib/sets lib/sorted lib/space
--- @include lib/streams webhook/_destination
if verdict == '' then again('URL_UNCHECKED') end
if verdict ~= 'ok' then refuse('DESTINATION_URL_FORBIDDEN', verdict) end
plan.needOperation()
if redis.call('ZCARD', keys.destinations()) >= 20 then refuse('DESTINATIONS_FULL', 20) end

local id = newId(tail)
destination.insert({ id = id, url = url, eventTypes = eventTypes, signingSecret = signingSecret })
local _, added = streams.tail(keys.events())
-- It gets the events after its own creation.
destination.listen(id, streams.nextId(keys.events()), added + 1)
sorted.add(keys.destinations(), '0', id)
sets.add(keys.outboxSpaces(), spaceId)
emit.destination.created(id, { state = 'ACTIVE' })
audit('destination.created', caller.actor(), id, detail)
return call.answer({ id = id, signingSecret = signingSecret }, 'operation')
