--- @rare deadline delaySeconds maxAttempts pauses priority key prerequisites required traceparent tracestate
--- @include mailbox/_message mailbox/_prerequisite mailbox/_requires mailbox/_send
--- What a send or a submit may say of its message beyond its payload. deadline: epoch milliseconds; delaySeconds,
--- maxAttempts, priority: numbers; pauses: see message.pauses; prerequisites: see mailbox/_prerequisite; required: see
--- mailbox/_requires; traceparent, tracestate: W3C Trace Context; each '' if absent.

--- The request's `options` for message.create. Refuses if the prerequisites or requirements do not allow the message.
--- nil if none is given.
function message.options()
  if priority == '' and key == '' and prerequisites == '' and required == '' and traceparent == '' and pauses == '' then
    return nil
  end
  local options = message.traced(traceparent, tracestate) or {}
  options.retryDelaySeconds, options.maxRetryDelaySeconds = message.pauses(pauses)
  options.priority = tonumber(priority)
  options.key, options.required = key ~= '' and key or nil, required ~= '' and required or nil
  if options.priority == 0 then options.priority = nil end
  if options.required then requires.need(options.required) end
  if prerequisites ~= '' then options.prerequisites, options.places = prerequisite.need(prerequisites) end
  return next(options) and options or nil
end
