import type { Logger } from 'pino';
import { keyName } from '../../engine/library/keys.ts';
import { nowOf, serverOf } from '../../engine/redis/cluster.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { within } from '../../engine/redis/failures.ts';
import { workerKeys } from '../../primitives/timer/keys.ts';
import { textUnlessRepeated } from './throttled-log.ts';

/** Do without the store if it does not answer within this time. */
const timeoutMs = 500;
/** Delay before asking the store again. */
const retryMs = 10_000;
/** Tolerated clock skew. A due time further ahead means that the clock was set back. */
const maxSkewMs = 5_000;

/** A periodic job; running it twice concurrently must be harmless. */
export interface Job {
  readonly everyMs: number;
  /** How long the first run on a store waits; by default not at all. */
  readonly firstAfterMs?: number;
  /** `stopping` aborts at shutdown. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
}

/**
 * Runs a job periodically, in one process at a time. The store has the next due time. Of the processes that find the job due,
 * the first one to set the next time runs it. While that key's shard is down, every process runs it. The next run makes up
 * for one that failed or was interrupted.
 */
export class Periodic {
  readonly #store: Store;
  readonly #name: string;
  readonly #job: Job;
  readonly #log: Logger;
  readonly #key: string;
  readonly #stopping = new AbortController();
  #ranAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void>;

  constructor(store: Store, name: string, job: Job, log: Logger) {
    this.#store = store;
    this.#name = name;
    this.#job = job;
    this.#log = log;
    this.#key = keyName(workerKeys.round, { job: name });
    if (job.firstAfterMs !== undefined) this.#ranAt = performance.now();
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    const { everyMs, run } = this.#job;
    const { signal } = this.#stopping;
    // Without the store, follow this process's own schedule.
    const local = { inMs: Math.min(retryMs, everyMs), isDue: performance.now() - this.#ranAt >= everyMs };
    const { inMs, isDue } = await within(timeoutMs, this.#take()).catch(() => local);
    try {
      if (isDue && !signal.aborted) await run(signal);
      if (isDue) this.#ranAt = performance.now();
    } catch (error) {
      // A persistent failure, such as a shard that is down, is logged only now and then.
      const text = textUnlessRepeated(this.#log, error as Error);
      if (text !== '') this.#log.error({ job: this.#name, error: text }, 'periodic job failed');
    }
    if (signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, inMs);
  }

  /** Whether this process runs the job now, and when to check again. */
  async #take(): Promise<{ isDue: boolean; inMs: number }> {
    const { everyMs, firstAfterMs } = this.#job;
    const store = this.#store;
    const [now, next] = await Promise.all([nowOf(serverOf(store, this.#key)), store.get(this.#key)]);
    const inMs = Number(next) - now;
    if (next !== null && inMs > 0 && inMs <= everyMs + maxSkewMs)
      return { isDue: false, inMs: Math.min(inMs, everyMs) };
    // Of several processes that find it due, only one replaces the value they all read.
    const waitsFirst = next === null && firstAfterMs !== undefined;
    const nextInMs = waitsFirst ? firstAfterMs : everyMs;
    const replaced = await store.set(this.#key, now + nextInMs, 'GET');
    return { isDue: replaced === next && !waitsFirst, inMs: nextInMs };
  }

  /** Waits for a run in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }
}
