--- @include lib/answers
worked['scope.state'] = function(values)
  if values.cancelledAt ~= '' then return 'CANCELLED' end
  return tonumber(values.live) > 0 and 'ACTIVE' or 'IDLE'
end
