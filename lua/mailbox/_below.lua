--- @include mailbox/_message scope/_scope

--- Whether a message belongs to a scope or to one below it; scopeId '': any.
function message.isBelow(messageId, scopeId)
  if scopeId == '' then return true end
  for _, id in ipairs(scope.path(message.load(messageId, 'scopeId').scopeId)) do
    if id == scopeId then return true end
  end
end
