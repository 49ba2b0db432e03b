--- @registry ripening
--- For keys (mailbox/_keyed), whose order depends on when delays ended; mailbox/_delay adds:
---
--- through(mailboxId, at): makes a bounded number of DELAYED messages of a mailbox that were due at `at` READY.
local ripening = {}
