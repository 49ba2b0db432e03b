--- @registry guards
--- @export guard
--- @include lib/caller lib/invocation
--- Checks a request's arguments, by their names, for a caller that is limited to mailboxes or bound to a holder. The
--- loader passes every argument with a guard to `call.open`, so no script can forget it. Rooms add the guards of ids
--- whose mailbox is known only from a record. A guard gets the argument, which is never '', and its name.
local guards = {}

--- Checks the arguments with these names.
local function guard(names, ...)
  for i = 1, #names do
    local value = select(i, ...)
    if value ~= '' then guards[names[i]](value, names[i]) end
  end
end

--- In a read, `holder` is a filter.
function guards.holder(name, field)
  if invocation.script.kind == 'write' then caller.needName(field, name) end
end

function guards.answeredBy(name, field)
  caller.needName(field, name)
end
