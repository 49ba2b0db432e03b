import type { Answered, Fields } from '../declare/field.ts';
import { type ReplyReader, replyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { functionGuard, type Store, shardsOf } from './cluster.ts';
import { Gathering } from './gathering.ts';
import { Libraries, type Overrides, type Script, type Vocabulary } from './loader.ts';
import { located } from './lua-lines.ts';

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
export class StoreUnavailable extends Error {
  constructor(reason?: string) {
    super(reason !== undefined && noConnection.test(reason) ? 'no connection' : reason);
  }
}

/** A defect of ours: a script failed in a way that no room declares. Named, never with its arguments. */
export class ScriptFailure extends Error {}

/** Redis says behind it where it was: `script: name, on @user_function:9.`, Valkey 9 without the name. */
const refusal = /^([A-Z][A-Z_]+) (\S+) (.*?)(?: script: (?:\w+, )?on \S+)?$/s;
const unavailable =
  /^(LOADING|READONLY|OOM|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|MISCONF|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM) ?/;
/** The client's words for it tell of its options. */
const noConnection = /^(Stream isn't writeable|Reached the max retries per request|Connection is closed)/;
const notLoaded = 'ERR Function not found';
/** A load that is shared may be from before the last FUNCTION FLUSH. */
const mostLoads = 3;
const ownErrors = /^(ERR|WRONGTYPE|NOSCRIPT|CROSSSLOT|EXECABORT) /;

type Args = Readonly<Record<string, string | number>>;

/** A script, and what is read of its reply. */
export interface ScriptCall<F extends Fields = Fields> {
  readonly script: string;
  readonly reply: F;
}

/** All scripts of the product, bound by name. Arguments are an object: a missing or an extra one is a defect. */
export class Scripts {
  readonly #store: Store;
  readonly #libraries: Libraries;
  readonly #loading = new Map<string, Promise<void>>();
  readonly #readers = new WeakMap<ScriptCall, ReplyReader<Fields>>();
  readonly #gathering = new Gathering((script, org, argv) => this.#call(script, org, argv));
  /** Told how long each call took: the metrics. */
  observe: (name: string, seconds: number) => void = () => undefined;

  constructor(store: Store, words: Vocabulary, overrides: Overrides = {}) {
    this.#store = store;
    this.#libraries = Libraries.of(words, overrides, functionGuard(store));
  }

  /** Loads every room's library into the store, where it stays with the data. */
  async load(): Promise<void> {
    for (const room of this.#libraries.rooms) await this.#load(room);
  }

  /** Into every shard that lives (one that does not gets it when a call misses it there); calls that meet share one load. */
  async #load(room: string): Promise<void> {
    let loading = this.#loading.get(room);
    if (!loading) {
      const { text, origins } = this.#libraries.of(room);
      const loads = shardsOf(this.#store).map((shard) => shard.call('FUNCTION', 'LOAD', 'REPLACE', text));
      // None waits for another: a call goes to its shard behind the library.
      loading = Promise.any(loads)
        .then(
          () => undefined,
          // No load was sent where the client knows of no shard.
          (error: AggregateError) => Promise.reject(explain(room, error.errors[0] ?? 'no connection', origins)),
        )
        .finally(() => this.#loading.delete(room));
      this.#loading.set(room, loading);
    }
    await loading;
  }

  /**
   * Runs a script for an organization: one round trip (more when the store has lost the library), shared with the
   * calls of the same turn where the script gathers. Rejects with Refusal, StoreUnavailable or ScriptFailure.
   */
  async run(name: string, org: string, args: Args): Promise<Reply> {
    const script = this.#script(name);
    const argv = pack(script, args);
    const start = performance.now();
    try {
      if (script.gathers) return await this.#gathering.call(script, org, String(args['spaceId']), argv);
      return await this.#call(script, org, argv);
    } catch (error) {
      throw explain(name, error, this.#libraries.of(roomOf(name)).origins);
    } finally {
      this.observe(name, (performance.now() - start) / 1000);
    }
  }

  /** Reads what a script replies; throws where that is not what it says it replies with. */
  reader<F extends Fields>(call: ScriptCall<F>): ReplyReader<F> {
    let reader = this.#readers.get(call);
    if (!reader) {
      reader = replyReader(call.script, this.#script(call.script).reply, call.reply) as ReplyReader<Fields>;
      this.#readers.set(call, reader);
    }
    return reader as unknown as ReplyReader<F>;
  }

  /** Runs a script that no request is behind; undefined where it replied with nothing. */
  async find<F extends Fields>(call: ScriptCall<F>, org: string, args: Args): Promise<Answered<F> | undefined> {
    return this.reader(call)(await this.run(call.script, org, args));
  }

  /** Runs a script that no request is behind, and that always replies. */
  async ask<F extends Fields>(call: ScriptCall<F>, org: string, args: Args): Promise<Answered<F>> {
    return always(call, await this.find(call, org, args));
  }

  /** Runs a script as a request does, with lib/call's arguments, and reads its reply without the note. */
  async request<F extends Fields>(call: ScriptCall<F>, org: string, args: Args): Promise<Answered<F>> {
    const [, ...values] = await this.run(call.script, org, args);
    return always(call, this.reader(call)(values));
  }

  async #call(script: Script, org: string, argv: readonly string[]): Promise<Reply> {
    for (let loads = 0; ; loads++) {
      try {
        return (await this.#store.fcall(script.functionName, 1, `muster:{${org}}`, ...argv)) as Reply;
      } catch (error) {
        // It has not run. Lost once more between the loading and the call, it is loaded once more.
        if (!(error instanceof Error && error.message.startsWith(notLoaded)) || loads === mostLoads) throw error;
      }
      await this.#load(roomOf(script.name));
    }
  }

  #script(name: string): Script {
    const script = this.#libraries.of(roomOf(name)).scripts.get(name);
    if (!script) throw new ScriptFailure(`no script ${name}`);
    return script;
  }
}

function roomOf(script: string): string {
  return script.split('/', 1)[0] ?? '';
}

function always<T>({ script }: ScriptCall, reply: T | undefined): T {
  if (reply === undefined) throw new ScriptFailure(`${script} replied with nothing`);
  return reply;
}

/** Ends each argument in the text: no name, key or header can hold it. */
const end = '\0';

/** The arguments of a call as they travel: one text, which costs less than many, and those that may be long. */
function pack({ name, args, long }: Script, values: Args): string[] {
  let text = '';
  const argv: string[] = [];
  for (const arg of args) {
    const value = values[arg];
    if (value === undefined) throw new ScriptFailure(`${name}: argument ${arg} is missing`);
    if (long.includes(arg)) argv.push(String(value));
    else if (typeof value === 'string' && value.includes(end))
      throw new ScriptFailure(`${name}: argument ${arg} holds a NUL`);
    else text += value + end;
  }
  if (Object.keys(values).length !== args.length) throw new ScriptFailure(`${name} takes only ${args.join(', ')}`);
  return [text, ...argv];
}

function explain(name: string, error: unknown, origins: readonly string[]): Error {
  if (error instanceof ScriptFailure || error instanceof StoreUnavailable) return error;
  const message = error instanceof Error ? error.message : String(error);
  // Which right is missing stands behind the code.
  if (unavailable.test(message))
    return new StoreUnavailable(message.startsWith('NOPERM') ? message : message.split(' ', 1)[0]);
  // It has just been loaded wherever that was possible.
  if (message.startsWith(notLoaded)) return new StoreUnavailable('the scripts cannot be loaded');
  if (ownErrors.test(message)) return new ScriptFailure(`${name}: ${located(message, origins)}`);
  const [, code, note, detail] = refusal.exec(message) ?? [];
  if (code !== undefined && note !== undefined) return new Refusal(code, note, detail ?? '');
  // What is left did not come from a script: the connection is closed, not yet open, or was cut in mid-call.
  return new StoreUnavailable(message);
}
