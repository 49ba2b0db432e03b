--- @include lib/sorted allowance/_waiter
--- Grants waiters their units, which have already been taken from `source` (see allowance.read). Each new grant removes
--- up to two grants of past windows from heldGrants, so that past grants never accumulate.
function waiter.grant(granted, source, at)
  local held, endsAt = keys.heldGrants(), string.format('%d', source.windowEndsAt)
  local past = sorted.byScore(held, '-inf', string.format('%d', at), 2 * #granted)
  for i = 1, #past, 2 do sorted.remove(held, past[i]) end
  for _, record in ipairs(granted) do
    waiter.finish(record, 'GRANTED', at, emit.waiter.granted)
    sorted.add(held, endsAt, record.id)
  end
end
