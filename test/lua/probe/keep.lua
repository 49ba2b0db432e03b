--- Changes something, keeps it or not, and is then sent back.
--- @request write
--- @args keeps
--- @reply
--- @include lib/call lib/records lib/sendBack probe/_probe
probe.insert({ id = 'kept', changes = 1 })
if keeps == '1' then call.again() end
sendBack('DUE')
