import type { JobsOptions } from 'bullmq';
import { ConfigError } from '../config.ts';
import { connect, type Store } from '../engine/redis/connection.ts';
import { inShort } from '../engine/redis/failures.ts';
import { StoreUnavailable } from '../engine/redis/scripts.ts';

/** The states of jobs as BullMQ names them, with their keys. `paused` is of versions before 6. */
const stateKeys = {
  waiting: ['wait', 'list'],
  paused: ['paused', 'list'],
  prioritized: ['prioritized', 'set'],
  delayed: ['delayed', 'set'],
  failed: ['failed', 'set'],
  active: ['active', 'list'],
  'waiting-children': ['waiting-children', 'set'],
  completed: ['completed', 'set'],
} as const;
export type JobState = keyof typeof stateKeys;

/** The delayed jobs of schedulers, one each, which the scheduler puts there anew. */
export const scheduled = 'scheduled';

/** Ids of jobs by state, in the order in which workers take them. */
export type JobIds = Readonly<Partial<Record<JobState | typeof scheduled, readonly string[]>>>;

/** What a message is made of. */
export interface SourceJob {
  readonly id: string;
  readonly state: JobState;
  readonly name: string;
  /** JSON text. */
  readonly data: string;
  readonly opts: JobsOptions;
  readonly attemptsMade: number;
  /** 0: none. */
  readonly priority: number;
  /** Epoch milliseconds; null if it is not delayed. */
  readonly dueMs: number | null;
}

/** Calls in flight at once. They share a round trip. */
const chunkSize = 500;

/**
 * A queue of BullMQ, read with commands that write nothing. The library's own getters remove what earlier versions have left,
 * and its Queue writes the queue's settings.
 */
export class BullmqQueue {
  readonly #store: Store;
  readonly #key: (type: string) => string;
  readonly #optionsOf: (text: string | undefined) => JobsOptions;

  private constructor(
    store: Store,
    { prefix, name }: { readonly prefix: string; readonly name: string },
    { Job, QueueKeys }: typeof import('bullmq'),
  ) {
    this.#store = store;
    const keys = new QueueKeys(prefix);
    this.#key = (type) => keys.toKey(name, type);
    this.#optionsOf = (text) => Job.optsFromJSON(text);
  }

  /** @throws StoreUnavailable, and ConfigError if there is no such queue */
  static async open(url: string, named: { readonly prefix: string; readonly name: string }): Promise<BullmqQueue> {
    const store = await connect(url).catch((error: Error) => {
      throw new StoreUnavailable(`the Redis of --redis cannot be reached (${inShort(error)})`);
    });
    // Loaded only here: the other commands do without it. The bundle has CommonJS' exports in `default`.
    const bullmq = await import('bullmq');
    const queue = new BullmqQueue(store, named, 'default' in bullmq ? bullmq.default : bullmq);
    const { name, prefix } = named;
    if (await queue.#exists()) return queue;
    queue.close();
    throw new ConfigError(
      `there is no queue "${name}" with the prefix "${prefix}": check --queue, --prefix and the database in --redis`,
    );
  }

  close(): void {
    this.#store.disconnect();
  }

  /** Whether workers take no jobs. */
  async isPaused(): Promise<boolean> {
    return (await this.#read(this.#store.hget(this.#key('meta'), 'paused'))) === '1';
  }

  async count(state: JobState): Promise<number> {
    const [key, type] = stateKeys[state];
    return this.#read(type === 'list' ? this.#store.llen(this.#key(key)) : this.#store.zcard(this.#key(key)));
  }

  countSchedulers(): Promise<number> {
    return this.#read(this.#store.zcard(this.#key('repeat')));
  }

  /** The jobs in these states, with the delayed ones of schedulers apart. */
  async ids(states: readonly JobState[]): Promise<JobIds> {
    const ids: Partial<Record<JobState | typeof scheduled, string[]>> = {};
    for (const state of states) ids[state] = await this.#idsIn(state);
    if (!ids.delayed) return ids;
    const keysOfSchedulers = await this.#each(ids.delayed, (id) => this.#store.hget(this.#key(id), 'rjk'));
    const isOwn = (_: string, index: number): boolean => !keysOfSchedulers[index];
    const own = ids.delayed.filter(isOwn);
    return { ...ids, delayed: own, [scheduled]: ids.delayed.filter((id, index) => !isOwn(id, index)) };
  }

  /** The priority of each; 0: none. */
  async priorities(ids: readonly string[]): Promise<number[]> {
    return (await this.#each(ids, (id) => this.#store.hget(this.#key(id), 'priority'))).map(Number);
  }

  /** Jobs of a state. One that has gone meanwhile is null. */
  jobs(state: JobState, ids: readonly string[]): Promise<(SourceJob | null)[]> {
    return this.#each(ids, (id) => this.#job(state, id));
  }

  async #job(state: JobState, id: string): Promise<SourceJob | null> {
    const fields = ['name', 'data', 'opts', 'priority', 'attemptsMade', 'atm'];
    const [[name, data, opts, priority, made, atm], score] = await Promise.all([
      this.#store.hmget(this.#key(id), ...fields),
      state === 'delayed' ? this.#store.zscore(this.#key('delayed'), id) : null,
    ]);
    if (name === null || name === undefined) return null;
    return {
      ...{ id, state, name, data: data || '{}', opts: this.#optionsOf(opts ?? undefined) },
      priority: Number(priority ?? 0),
      attemptsMade: Number(made ?? atm ?? 0),
      // The lowest 12 bits of a score only order the jobs of one millisecond.
      dueMs: score === null ? null : Math.floor(Number(score) / 0x1000),
    };
  }

  async #idsIn(state: JobState): Promise<string[]> {
    const [key, type] = stateKeys[state];
    if (type === 'set') return this.#read(this.#store.zrange(this.#key(key), '0', '-1'));
    const ids = await this.#read(this.#store.lrange(this.#key(key), 0, -1));
    // Workers take from the end. Versions before 5 have put markers there.
    return ids.reverse().filter((id) => !id.startsWith('0:'));
  }

  async #exists(): Promise<boolean> {
    const types = ['meta', 'id', ...Object.values(stateKeys).map(([key]) => key)];
    return (await this.#each(types, (type) => this.#store.exists(this.#key(type)))).includes(1);
  }

  async #each<T>(ids: readonly string[], read: (id: string) => Promise<T>): Promise<T[]> {
    const all: T[] = [];
    for (let first = 0; first < ids.length; first += chunkSize)
      all.push(...(await this.#read(Promise.all(ids.slice(first, first + chunkSize).map(read)))));
    return all;
  }

  #read<T>(reply: Promise<T>): Promise<T> {
    return reply.catch((error: Error) => {
      throw new StoreUnavailable(`the Redis of --redis failed (${inShort(error)}): run the import again`);
    });
  }
}
