--- A scope, and what is live in its subtree.
--- @args scopeId
--- @reply scope:scope
--- @include "lib/call"
--- @include "scope/_view"
call.read()
return call.answer({ scope = scope.view(scopeId) or refuse('SCOPE_NOT_FOUND') })
