--- @registry guards
--- @export guard
--- @include lib/caller lib/invocation
--- Checks of a request's arguments, by their names, for a caller that is limited to mailboxes or bound to a holder. The loader
--- passes every argument that has a guard to `call.open`, so that no script has to think of it. Rooms add the guards of ids from
--- which only a record leads to a mailbox. A guard gets the argument, which is not '', and its name.
local guards = {}

--- Checks the arguments of these names.
local function guard(names, ...)
  for i, name in ipairs(names) do
    local value = select(i, ...)
    if value ~= '' then guards[name](value, name) end
  end
end

--- In a read, a holder is what the caller looks for.
function guards.holder(name, field)
  if invocation.script.kind == 'write' then caller.needName(field, name) end
end

function guards.answeredBy(name, field)
  caller.needName(field, name)
end
