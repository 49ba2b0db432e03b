--- @include mailbox/_after mailbox/_message mailbox/_requires
--- The rare properties of new messages, most of them about order: `order` of message.create.

--- Reads a request's arguments, '' where absent. Refuses if the prerequisites or requirements do not allow the message.
--- nil if all arguments are absent.
function message.order(priority, key, prerequisites, required, traceparent, tracestate)
  if priority == '' and key == '' and prerequisites == '' and required == '' and traceparent == '' then return nil end
  local order = message.traced(traceparent, tracestate) or {}
  order.priority, order.key, order.required = tonumber(priority), key ~= '' and key or nil, required ~= '' and required or nil
  if order.priority == 0 then order.priority = nil end
  if order.required then requires.need(order.required) end
  if prerequisites ~= '' then order.prerequisites, order.places = after.need(prerequisites) end
  return next(order) and order or nil
end

--- The `order` of a message that has only a trace.
function message.traced(traceparent, tracestate)
  return traceparent ~= '' and { traceparent = traceparent, tracestate = tracestate ~= '' and tracestate or nil } or nil
end

--- Whether a message has open prerequisites. order: from message.order, or a record after message.obstacle.
function message.willWait(order)
  return order and order.places and order.places[1] ~= nil
end
