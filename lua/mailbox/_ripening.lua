--- @registry ripening
--- For keys (mailbox/_keyed), whose order depends on when delays ended; added by mailbox/_delay:
---
--- through(mailboxId, at): makes DELAYED messages of a mailbox that were due at `at` READY, a bounded number.
local ripening = {}
