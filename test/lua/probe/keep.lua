--- Changes something, keeps it or not, and is then sent back.
--- @request write
--- @args keeps
--- @reply
--- @include lib/again lib/call lib/records probe/_probe
probe.insert({ id = 'kept', changes = 1 })
if keeps == '1' then again('MORE') end
again('DUE')
