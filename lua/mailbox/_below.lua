--- @include mailbox/_message scope/_scope

--- Whether a message belongs to a scope or to one below it; scopeId '': any.
function message.isBelow(messageId, scopeId)
  return scopeId == '' or scope.isWithin(message.load(messageId, 'scopeId').scopeId, scopeId)
end
