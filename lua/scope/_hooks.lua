--- @include lib/answers
--- What the room adds to the work of others: see lib/hooks.

worked['scope.state'] = function(values)
  if values.cancelledAt ~= '' then return 'CANCELLED' end
  return tonumber(values.live) > 0 and 'ACTIVE' or 'IDLE'
end
