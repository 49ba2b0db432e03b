--- @include mailbox/_keyed mailbox/_message mailbox/_parked mailbox/_requires

--- A message that has a place is over since `at`, in its state before that: its key's turn, and the units that it held or
--- would have taken, are for others.
function message.passOn(record, from, at)
  local order = message.load(record.id, 'key', 'required', 'blockedOn')
  if order.required then
    requires.count(order.required, -1)
    if order.blockedOn then parked.forget(record, order.blockedOn) end
    if from == 'CLAIMED' then
      requires.give(record)
    elseif from == 'READY' then
      parked.passOn(order.required)
    end
  end
  if order.key then keyed.leave(record, from, at) end
end
