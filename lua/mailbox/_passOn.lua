--- @include lib/records mailbox/_aside mailbox/_asked mailbox/_keyed mailbox/_message mailbox/_parked mailbox/_requires

--- A message with a place has ended at `at`. Passes on its key's turn and the units it held or would have taken, and
--- withdraws its question. from: its previous state; cause: of the question's event.
function message.passOn(record, from, at, cause)
  local order = message.load(record.id, 'key', 'required', 'blockedOn')
  local questionId = aside.of(order.blockedOn)
  if order.required then
    requires.count(order.required, -1)
    if order.blockedOn and not questionId then parked.forget(record, order.blockedOn) end
    if from == 'CLAIMED' then
      requires.give(record, at)
    elseif from == 'READY' then
      parked.passOn(order.required)
    end
  end
  if order.key then keyed.leave(record, from, at) end
  if questionId then
    records.set(record, 'blockedOn', false)
    asked.withdraw(questionId, at, cause)
  end
end
