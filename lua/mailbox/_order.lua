--- @include mailbox/_after mailbox/_message
--- In what order a new message is worked: `order` of message.create.

--- Reads a request's arguments, '' where absent, and judges the prerequisites; nil where there are none of these. Refuses
--- where a prerequisite does.
function message.order(priority, key, prerequisites)
  if priority == '' and key == '' and prerequisites == '' then return nil end
  local order = { priority = tonumber(priority), key = key ~= '' and key or nil }
  if order.priority == 0 then order.priority = nil end
  if prerequisites ~= '' then order.prerequisites, order.places = after.need(prerequisites) end
  return (order.priority or order.key or order.prerequisites) and order or nil
end

--- Whether a message has prerequisites that are open. order: as above, or a record that message.obstacle has judged.
function message.willWait(order)
  return order and order.places and order.places[1] ~= nil
end
