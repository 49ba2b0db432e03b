--- @registry guards
--- @export guard
--- @include lib/caller lib/invocation
--- Checks a request's arguments, by their names, for a caller that is limited to mailboxes or bound to a holder. The
--- loader passes every argument with a guard to `call.open`, so no script can forget it. Rooms add the guards of ids
--- whose mailbox is known only from a record. A guard gets the argument, which is never '', and its name.
local guards = {}

--- Checks the arguments with these names, two at most.
local function guard(names, first, second)
  if names[1] and first ~= '' then guards[names[1]](first, names[1]) end
  if names[2] and second ~= '' then guards[names[2]](second, names[2]) end
end

--- In a read, `holder` is a filter.
function guards.holder(name, field)
  if invocation.script.kind == 'write' then caller.needName(field, name) end
end

function guards.answeredBy(name, field)
  caller.needName(field, name)
end
