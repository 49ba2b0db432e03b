--- @rare deadline delaySeconds maxAttempts pauses attemptSeconds priority key prerequisites required traceparent
--- @rare tracestate
--- @include mailbox/_message mailbox/_prerequisite mailbox/_requires mailbox/_send
--- What a send or a submit may say of its message beyond its payload. deadline: epoch milliseconds; delaySeconds,
--- maxAttempts, attemptSeconds, priority: numbers; pauses: see message.pauses; prerequisites: see
--- mailbox/_prerequisite; required: see mailbox/_requires; traceparent, tracestate: W3C Trace Context; each '' if
--- absent.

--- The request's `options` for message.create in a scope. Refuses if the prerequisites or requirements do
--- not allow the message. nil if none is given.
function message.options(scopeId)
  if priority == '' and key == '' and prerequisites == '' and required == '' and traceparent == ''
    and pauses == '' and attemptSeconds == '' then
    return nil
  end
  local options = message.traced(traceparent, tracestate) or {}
  options.retryDelaySeconds, options.maxRetryDelaySeconds = message.pauses(pauses)
  options.priority, options.attemptSeconds = tonumber(priority), tonumber(attemptSeconds)
  options.key, options.required = key ~= '' and key or nil, required ~= '' and required or nil
  if options.priority == 0 then options.priority = nil end
  if options.required then requires.need(options.required) end
  if prerequisites ~= '' then options.prerequisites, options.places = prerequisite.need(prerequisites, scopeId) end
  return next(options) and options or nil
end
