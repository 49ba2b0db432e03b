import type { Answered, Fields } from '../declare/field.ts';
import { type ReplyReader, replyReader } from '../declare/reply.ts';
import type { Reply, Value } from '../declare/value.ts';
import { libraryOf } from '../library/library.ts';
import type { Library, LuaNames, Overrides, Script } from '../library/loader.ts';
import { located } from '../library/lua-lines.ts';
import { type Args, pack } from './args.ts';
import { functionGuard, type Store, shardsOf } from './cluster.ts';
import { type Argv, Gathering } from './gathering.ts';
import { ScriptFailure } from './script-failure.ts';
import { Turns } from './turns.ts';

export { ScriptFailure };

/** A refusal by a script, `refuse(code, detail)`. `note` is the text that successful replies start with. */
export class Refusal extends Error {
  readonly code: string;
  readonly head: string;
  readonly detail: string;
  constructor(code: string, head: string, detail: string) {
    super(`${code} ${detail}`);
    this.code = code;
    this.head = head;
    this.detail = detail;
  }
}

/** The store did not accept the call: it is unreachable, loading, read-only, out of memory or without a majority. */
export class StoreUnavailable extends Error {
  constructor(reason?: string) {
    super(reason !== undefined && noConnection.test(reason) ? 'no connection' : reason);
  }

  /** Why, in a word for callers, who are not told addresses: what Redis said, such as OOM, or one of ours. */
  get reason(): string {
    const [word] = unavailable.exec(this.message) ?? [];
    if (word !== undefined) return word.trim();
    return ours.find(([, form]) => form.test(this.message))?.[0] ?? 'UNREACHABLE';
  }
}

/** Redis appends the position: `script: name, on @user_function:9.`; Valkey 9 leaves out the name. */
const refusal = /^([A-Z][A-Z_]+) (\S+) (.*?)(?: script: (?:\w+, )?on \S+)?$/s;
const unavailable =
  /^(LOADING|READONLY|OOM|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|MISCONF|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM) ?/;
/** Reasons that Redis has no word for, and the messages that have them. */
const ours = [
  ['HUNG', /^(no reply within|Command timed out)/],
  ['SCRIPTS', /^the scripts cannot be loaded/],
  ['CONTENDED', /^(others keep changing|the journal is being packed)/],
] as const;
/** ioredis' messages for a lost connection mention its options. */
const noConnection = /^(Stream isn't writeable|Reached the max retries per request|Connection is closed)/;
const notLoaded = 'ERR Function not found';
/** More than one: a shared load may have started before the last FUNCTION FLUSH. */
const maxLoads = 3;
const redisErrors = /^(ERR|WRONGTYPE|NOSCRIPT|CROSSSLOT|EXECABORT) /;

/** One of the calls of an FCALL of several scripts. */
export interface MixedCall {
  readonly script: string;
  readonly args: Args;
  /** In an atomic batch: the call's references and expectations (lua/lib/answers). */
  readonly terms?: string;
}

/** A script, and the fields to read from its reply. */
export interface ScriptCall<F extends Fields = Fields> {
  readonly script: string;
  readonly reply: F;
}

/** Counts the round trips of scripts. */
interface ScriptObserver {
  script(name: string, seconds: number): void;
}

/** Runs scripts by name. An argument that is missing, or that the script does not take, is a bug. */
export class Scripts {
  readonly #store: Store;
  readonly #library: Library;
  readonly #scripts: ReadonlyMap<string, Script>;
  #loading: Promise<void> | undefined;
  readonly #readers = new WeakMap<ScriptCall, ReplyReader<Fields>>();
  readonly #turns = new Turns();
  readonly #gathering = new Gathering(({ functionName }, org, argv) => this.#call(functionName, org, argv));
  /** Receives the duration of each call, for the metrics. */
  observer: ScriptObserver = { script: () => undefined };
  /** Wraps each call, for spans. */
  around: <T>(name: string, run: () => Promise<T>) => Promise<T> = (_, run) => run();

  constructor(store: Store, words: LuaNames, overrides: Overrides = {}) {
    this.#store = store;
    this.#library = libraryOf(words, overrides, functionGuard(store));
    this.#scripts = new Map(this.#library.scripts.map((script) => [script.name, script]));
  }

  /** The suffix of the names of the library and of its functions. */
  get version(): string {
    return this.#library.version;
  }

  /**
   * Loads the library into every live shard, which keeps it with the data. Other shards get it when a call finds it missing.
   * Concurrent callers share one load.
   */
  async load(): Promise<void> {
    const { text, origins } = this.#library;
    this.#loading ??= Promise.any(shardsOf(this.#store).map((shard) => shard.call('FUNCTION', 'LOAD', 'REPLACE', text)))
      .then(
        // One success is enough, as on each shard the call is queued behind the load.
        () => undefined,
        // No shard is known, so no load was sent.
        (error: AggregateError) => Promise.reject(explain('library', error.errors[0] ?? 'no connection', origins)),
      )
      .finally(() => {
        this.#loading = undefined;
      });
    await this.#loading;
  }

  /**
   * Runs a script for an organization in one round trip, or more if the store has lost the library. Scripts that gather share
   * the trip with concurrent calls. Rejects with Refusal, StoreUnavailable or ScriptFailure.
   */
  async execute(name: string, org: string, args: Args): Promise<Reply> {
    const script = this.#script(name);
    const argv = pack(script, args);
    return this.#observed(name, () =>
      script.gathers
        ? this.#gathering.call(script, org, String(args['spaceId']), argv)
        : this.#call(script.functionName, org, argv),
    );
  }

  /**
   * Like run, for calls of one space whose order matters. Starts as many of them, from the first on, as one FCALL takes, and
   * resolves each separately.
   */
  executeTogether(name: string, org: string, calls: readonly Args[]): Promise<Reply>[] {
    const [first] = calls;
    if (!first) return [];
    let replies: Promise<Reply>[];
    try {
      const script = this.#script(name);
      if (!script.gathers) return [this.execute(name, org, first)];
      const packed = calls.map((args) => pack(script, args));
      replies = this.#gathering.together(script, org, String(first['spaceId']), packed);
    } catch (error) {
      return [Promise.reject(error)];
    }
    return replies.map((reply) => this.#observed(name, () => reply));
  }

  /** Runs calls of several request scripts in order, in one step. Resolves with each call's reply or error. */
  async executeMixed(org: string, calls: readonly MixedCall[]): Promise<(Reply | Error)[]> {
    const argv = calls.flatMap(({ script, args }) => [script, ...pack(this.#script(script), args)]);
    const replies = await this.#mixed(org, ['', ...argv]);
    return replies.map((reply, at) =>
      reply instanceof Error ? this.#explained(calls[at]?.script, reply) : (reply as Reply),
    );
  }

  /**
   * Like executeMixed, but one refusal refuses all: then rejects with that error, whose `index` is the call's position. maxBytes:
   * limit of all replies together.
   */
  async executeWhole(org: string, calls: readonly MixedCall[], maxBytes: number): Promise<Reply[]> {
    const argv = calls.flatMap(({ script, args, terms = '' }) => [script, terms, ...pack(this.#script(script), args)]);
    const replies = await this.#mixed(org, [String(maxBytes), ...argv]);
    const [refused, index] = replies;
    if (refused instanceof Error)
      throw Object.assign(this.#explained(calls[Number(index)]?.script, refused), { index: Number(index) });
    return replies as Reply[];
  }

  #mixed(org: string, argv: Argv): Promise<readonly Value[]> {
    return this.#observed('mixed', () => this.#call(this.#library.mixedName, org, argv));
  }

  #explained(script: string | undefined, error: Error): Error {
    return explain(script ?? 'mixed', error, this.#library.origins);
  }

  #observed(name: string, call: () => Promise<Reply>): Promise<Reply> {
    return this.around(name, async () => {
      const start = performance.now();
      try {
        return await call();
      } catch (error) {
        throw explain(name, error, this.#library.origins);
      } finally {
        this.observer.script(name, (performance.now() - start) / 1000);
      }
    });
  }

  /** The reader of a script's reply; throws when the fields do not match the script's `@reply`. */
  reader<F extends Fields>(call: ScriptCall<F>): ReplyReader<F> {
    let reader = this.#readers.get(call);
    if (!reader) {
      reader = replyReader(call.script, this.#script(call.script).reply, call.reply) as ReplyReader<Fields>;
      this.#readers.set(call, reader);
    }
    return reader as unknown as ReplyReader<F>;
  }

  /** Runs a script outside a request; undefined if its reply is empty. */
  async find<F extends Fields>(call: ScriptCall<F>, org: string, args: Args): Promise<Answered<F> | undefined> {
    return this.reader(call)(await this.execute(call.script, org, args));
  }

  /** Runs a script outside a request that always replies. */
  async ask<F extends Fields>(call: ScriptCall<F>, org: string, args: Args): Promise<Answered<F>> {
    return always(call, await this.find(call, org, args));
  }

  /** Runs a script with a request's arguments (lib/call), and reads its reply without the head. */
  async request<F extends Fields>(call: ScriptCall<F>, org: string, args: Args): Promise<Answered<F>> {
    const [, ...values] = await this.execute(call.script, org, args);
    return always(call, this.reader(call)(values));
  }

  #call(functionName: string, org: string, argv: Argv): Promise<Reply> {
    return this.#turns.run(org, () => this.#send(functionName, org, argv));
  }

  async #send(functionName: string, org: string, argv: Argv): Promise<Reply> {
    for (let loads = 0; ; loads++) {
      try {
        return (await this.#store.fcall(functionName, 1, `muster:{${org}}`, ...argv)) as Reply;
      } catch (error) {
        // The call has not run. The library may get lost again between load and call, so retry a few times.
        if (!(error instanceof Error && error.message.startsWith(notLoaded)) || loads === maxLoads) throw error;
      }
      await this.load();
    }
  }

  #script(name: string): Script {
    const script = this.#scripts.get(name);
    if (!script) throw new ScriptFailure(`no script ${name}`);
    return script;
  }
}

function always<T>({ script }: ScriptCall, reply: T | undefined): T {
  if (reply === undefined) throw new ScriptFailure(`${script} replied with nothing`);
  return reply;
}

function explain(name: string, error: unknown, origins: readonly string[]): Error {
  if (error instanceof ScriptFailure || error instanceof StoreUnavailable) return error;
  const message = error instanceof Error ? error.message : String(error);
  // The message of NOPERM says which permission is missing.
  if (unavailable.test(message))
    return new StoreUnavailable(message.startsWith('NOPERM') ? message : message.split(' ', 1)[0]);
  // It has just been loaded wherever possible.
  if (message.startsWith(notLoaded)) return new StoreUnavailable('the scripts cannot be loaded');
  if (redisErrors.test(message)) return new ScriptFailure(`${name}: ${located(message, origins)}`);
  const [, code, head, detail] = refusal.exec(message) ?? [];
  if (code !== undefined && head !== undefined) return new Refusal(code, head, detail ?? '');
  // Any other error is not from a script: the connection is closed, not open yet, or broke during the call.
  return new StoreUnavailable(message);
}
