--- @include mailbox/_after mailbox/_message mailbox/_requires
--- What few new messages have, most of it about the order in which they are worked: `order` of message.create.

--- Reads a request's arguments, '' where absent, and judges the prerequisites and what it requires; nil where there are none of
--- these. Refuses where one of them does.
function message.order(priority, key, prerequisites, required, traceparent, tracestate)
  if priority == '' and key == '' and prerequisites == '' and required == '' and traceparent == '' then return nil end
  local order = message.traced(traceparent, tracestate) or {}
  order.priority, order.key, order.required = tonumber(priority), key ~= '' and key or nil, required ~= '' and required or nil
  if order.priority == 0 then order.priority = nil end
  if order.required then requires.need(order.required) end
  if prerequisites ~= '' then order.prerequisites, order.places = after.need(prerequisites) end
  return next(order) and order or nil
end

--- The same of a message with nothing but a trace.
function message.traced(traceparent, tracestate)
  return traceparent ~= '' and { traceparent = traceparent, tracestate = tracestate ~= '' and tracestate or nil } or nil
end

--- Whether a message has prerequisites that are open. order: as above, or a record that message.obstacle has judged.
function message.willWait(order)
  return order and order.places and order.places[1] ~= nil
end
