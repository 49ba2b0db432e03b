--- @registry invocation
--- @export invocations root
--- The current invocation: one FCALL, which carries out the calls of one organization that it was given, each with its own
--- arguments and its own reply. `invocation` is made anew for each, so nothing in it has to be reset. In it is what calls
--- have in common, and what modules keep for the length of an invocation:
---
--- counted: how many changes there were (unit.changes) when the current request was counted; false before.
--- script: the script of the current request; at: where its arguments start; isWhole: the invocation is refused as a whole.
--- note(): what a refusal says of rates; false before the caller is known.
--- refusals: the errors of requests that an earlier attempt of the invocation refused, by `at`.
--- isSentBack: Node has to do something first, and then calls again; heldError, heldId: the error and the request id of the
--- request that was sent back last. The calls of a batch have the same id, and those behind it wait until it is done.
local invocation, root
local invocations = {}

--- org: the start of all keys of the organization.
function invocations.start(org)
  root = org
  -- With all its members from the start it is not copied as it grows.
  invocation = { counted = false, at = 0, script = false, isSentBack = false, note = false, refusals = false, hasPlan = false,
    isAdmitted = false, apiKeyDigest = false, permissions = false, limits = false, enteredId = false, enteredFor = false,
    answersIn = false }
end
