--- A scope with the counts of live records in its subtree.
--- @request read
--- @args scopeId
--- @reply scope:scope
--- @include lib/call lib/refuse scope/_scope scope/_subtree
return call.answer({ scope = scope.view(scopeId) or refuse('SCOPE_NOT_FOUND') })
