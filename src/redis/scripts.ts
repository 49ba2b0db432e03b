import type { Store } from './connection.ts';
import type { KeyTable } from './keys.ts';
import { loadScript, type Overrides, type Script, scriptNames } from './loader.ts';

/** A value in a reply: Lua's false arrives as null, numbers as numbers, everything else as text. */
export type Value = string | number | null | Value[];
export type Reply = Value[];

/** What a script refused with `refuse(code, detail)`; `note` is the text that successful replies begin with. */
export class Refusal extends Error {
  readonly code: string;
  readonly note: string;
  readonly detail: string;
  constructor(code: string, note: string, detail: string) {
    super(`${code} ${detail}`);
    this.code = code;
    this.note = note;
    this.detail = detail;
  }
}

/** The store did not take the call: unreachable, loading, read-only, out of memory, no majority. */
export class StoreUnavailable extends Error {}

/** A defect of ours: a script failed in a way that no room declares. Named, never with its arguments. */
export class ScriptFailure extends Error {}

const refusal = /^([A-Z][A-Z_]+) (\S+) (.*?)(?: script: [0-9a-f]{40}, on \S+)?$/s;
const unavailable =
  /^(LOADING|READONLY|OOM|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|MISCONF|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM) ?/;
const ownErrors = /^(ERR|WRONGTYPE|NOSCRIPT|CROSSSLOT|EXECABORT) /;

/** All scripts of the product, bound by name. Arguments are an object: a missing or an extra one is a defect. */
export class Scripts {
  readonly #store: Store;
  readonly #scripts = new Map<string, Script>();

  constructor(store: Store, keys: KeyTable, overrides: Overrides = {}) {
    this.#store = store;
    for (const name of scriptNames()) this.#scripts.set(name, loadScript(name, keys, overrides));
  }

  /**
   * Runs a script for an organization: one round trip (two after a SCRIPT FLUSH or a failover).
   * Rejects with Refusal, StoreUnavailable or ScriptFailure.
   */
  async run(name: string, org: string, args: Readonly<Record<string, string | number>>): Promise<Reply> {
    const script = this.#scripts.get(name);
    if (!script) throw new ScriptFailure(`no script ${name}`);
    const argv: (string | number)[] = [name];
    for (const arg of script.args) {
      const value = args[arg];
      if (value === undefined) throw new ScriptFailure(`${name}: argument ${arg} is missing`);
      argv.push(value);
    }
    for (const arg in args) if (!script.args.includes(arg)) throw new ScriptFailure(`${name}: no argument ${arg}`);
    const key = `muster:{${org}}`;
    try {
      return (await this.#store.evalsha(script.sha, 1, key, ...argv)) as Reply;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw explain(name, error);
    }
    try {
      return (await this.#store.eval(script.text, 1, key, ...argv)) as Reply;
    } catch (error) {
      throw explain(name, error);
    }
  }

  /** The names of a script's arguments, for the test that no route passes what its script does not take. */
  argsOf(name: string): readonly string[] {
    return this.#scripts.get(name)?.args ?? [];
  }
}

function explain(name: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (unavailable.test(message)) return new StoreUnavailable(message.split(' ', 1)[0]);
  if (ownErrors.test(message)) return new ScriptFailure(`${name}: ${message}`);
  const [, code, note, detail] = refusal.exec(message) ?? [];
  if (code !== undefined && note !== undefined) return new Refusal(code, note, detail ?? '');
  // What is left did not come from a script: the connection is closed, not yet open, or was cut in mid-call.
  return new StoreUnavailable(message);
}
