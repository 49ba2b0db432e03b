--- What a request has changed in the tables of a run, so that one that is refused leaves no trace in them.
local undo = {}
--- Flat: a table, the name of its member, the value that it had before. Reused, so that it need not grow again.
local log, logged = {}, 0

function undo.begin()
  logged = 0
end

--- Sets a member of a table, until the request is refused.
local function put(list, name, value)
  log[logged + 1], log[logged + 2], log[logged + 3] = list, name, list[name]
  logged = logged + 3
  list[name] = value
end

--- What was put so far stays.
function undo.forget()
  logged = 0
end

function undo.all()
  for i = logged - 2, 1, -3 do log[i][log[i + 1]] = log[i + 2] end
  logged = 0
end
