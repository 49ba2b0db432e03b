--- Starts a new generation of the organization's journals, which expires all earlier cursors.
--- @args epoch
--- @reply
--- @include lib/records lib/refuse lib/unit
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
records.put(keys.org(), 'epoch', epoch)
unit.write()
