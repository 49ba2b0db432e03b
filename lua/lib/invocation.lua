--- @registry invocation
--- @export invocations root
--- The current invocation: one FCALL. It carries out a list of calls of one organization, each with its own arguments
--- and reply. `invocation` is made anew for each FCALL, so nothing in it has to be reset. Its members are shared by the
--- calls; modules add the state that they keep for one invocation:
--- changesBeforeCount: the number of changes (unit.changes) when the current request was counted; false before that.
--- script: the script of the current request; position: the position before its arguments; isAtomic: one refusal
--- refuses the whole invocation.
--- head(): the rates that a refusal reports; false until the caller is known.
--- refusals: errors of requests refused by an earlier attempt of the invocation, by position.
--- closing: what remains to be done at the end (lib/closing).
--- isSentBack: Node has to do something first and then calls again; sentBackError, sentBackId: error and request id of
--- the last request sent back. All calls of a batch have the same id, so the calls after it are sent back as well.
local invocation, root
local invocations = {}

--- org: the prefix of all keys of the organization.
function invocations.start(org)
  root = org
  -- Listing all members here keeps the table from being copied as it grows.
  invocation = { changesBeforeCount = false, position = 0, script = false, isSentBack = false, head = false,
    refusals = false, hasPlan = false, isAdmitted = false, apiKeyDigest = false, permissions = false, limits = false,
    enteredId = false, enteredFor = false, answersIn = false, closing = false }
end
