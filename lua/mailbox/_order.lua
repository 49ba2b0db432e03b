--- @include mailbox/_after mailbox/_message mailbox/_requires
--- In what order a new message is worked: `order` of message.create.

--- Reads a request's arguments, '' where absent, and judges the prerequisites and what it requires; nil where there are none of
--- these. Refuses where one of them does.
function message.order(priority, key, prerequisites, required)
  if priority == '' and key == '' and prerequisites == '' and required == '' then return nil end
  local order = { priority = tonumber(priority), key = key ~= '' and key or nil, required = required ~= '' and required or nil }
  if order.priority == 0 then order.priority = nil end
  if order.required then requires.need(order.required) end
  if prerequisites ~= '' then order.prerequisites, order.places = after.need(prerequisites) end
  return next(order) and order or nil
end

--- Whether a message has prerequisites that are open. order: as above, or a record that message.obstacle has judged.
function message.willWait(order)
  return order and order.places and order.places[1] ~= nil
end
