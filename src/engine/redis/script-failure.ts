/** A bug: a script failed with an undeclared error. The message names the script, never its arguments. */
export class ScriptFailure extends Error {}
