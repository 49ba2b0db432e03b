--- @registry guards
--- @export guard
--- @include lib/caller lib/invocation
--- Checks of a request's arguments, by their names, for a caller that is limited to mailboxes or bound to a holder. The loader
--- passes every argument that has a guard to `call.open`, so that no script has to think of it. Rooms add the guards of ids from
--- which only a record leads to a mailbox. A guard gets the argument, which is not '', and its name.
local guards = {}

--- Checks the arguments of these names, which are at most two.
local function guard(names, first, second)
  if names[1] and first ~= '' then guards[names[1]](first, names[1]) end
  if names[2] and second ~= '' then guards[names[2]](second, names[2]) end
end

--- In a read, a holder is what the caller looks for.
function guards.holder(name, field)
  if invocation.script.kind == 'write' then caller.needName(field, name) end
end

function guards.answeredBy(name, field)
  caller.needName(field, name)
end
