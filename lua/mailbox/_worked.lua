--- @include lib/answers
worked['message.onFailure'] = function(values) return string.match(values.prerequisites, '^%S*') end
worked['changedMessage.onFailure'] = worked['message.onFailure']
