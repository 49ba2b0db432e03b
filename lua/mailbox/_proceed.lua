--- @include lib/clock lib/records mailbox/_delay mailbox/_keyed mailbox/_message mailbox/_ready

--- Continues with a message that, from `at` on, only its sender's delay (until `readyAt`, nil for none) and its key can
--- hold back.
function message.proceed(record, path, box, readyAt, at)
  if readyAt and readyAt > now then
    -- The place shows when it began to wait (mailbox/_waits).
    records.set(record, 'place', ready.placeAt(now))
    delay.hold(record, box, readyAt)
  else
    at = math.max(at, readyAt or 0)
    keyed.needOrder(record, at)
    keyed.proceed(record, path, box, at)
  end
end
