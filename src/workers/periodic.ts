import type { Logger } from 'pino';
import { nowOf, serverOf } from '../redis/cluster.ts';
import type { Store } from '../redis/connection.ts';
import { within } from '../redis/failures.ts';
import { keyName } from '../redis/keys.ts';
import { workerKeys } from './keys.ts';
import { newsOf } from './throttled-log.ts';

/** A store that does not say for this long when the job is due is done without. */
const answerMs = 500;
/** Until it is asked again. */
const askAgainMs = 10_000;
/** A moment that lies further ahead is of a clock that was set back since; those of machines differ by less. */
const aheadMs = 5_000;

/** Doing it twice at once must be harmless. */
export interface Job {
  readonly everyMs: number;
  /** The first time, it waits as long as between two runs; else it runs at once. */
  readonly waitsFirst?: true;
  /** `stopping` aborts at shutdown. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
}

/**
 * A job that comes round by itself, in one process of the fleet at a time. When it is due next stands in the store; who
 * finds it due and is the first to put the next moment in its place does it. Where that key's shard is away, every
 * process does the job by itself. A run that fails or is cut short is made up for by the next one.
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
    if (job.waitsFirst) this.#ranAt = performance.now();
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    const { everyMs, run } = this.#job;
    const { signal } = this.#stopping;
    // Left to itself: as often as it is to be done.
    const itself = { inMs: Math.min(askAgainMs, everyMs), isDue: performance.now() - this.#ranAt >= everyMs };
    const { inMs, isDue } = await within(answerMs, this.#take()).catch(() => itself);
    try {
      if (isDue && !signal.aborted) await run(signal);
      if (isDue) this.#ranAt = performance.now();
    } catch (error) {
      // Of what fails again and again (a shard that is away), one line now and then.
      const news = newsOf(this.#log, error as Error);
      if (news !== '') this.#log.error({ job: this.#name, error: news }, 'periodic job failed');
    }
    if (signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, inMs);
  }

  /** Whether this process is to do it now, and when to look again. */
  async #take(): Promise<{ isDue: boolean; inMs: number }> {
    const { everyMs, waitsFirst } = this.#job;
    const store = this.#store;
    const [now, next] = await Promise.all([nowOf(serverOf(store, this.#key)), store.get(this.#key)]);
    const inMs = Number(next) - now;
    if (next !== null && inMs > 0 && inMs <= everyMs + aheadMs) return { isDue: false, inMs: Math.min(inMs, everyMs) };
    // Of several that find it due, one replaces what all of them have read.
    const replaced = await store.set(this.#key, now + everyMs, 'GET');
    return { isDue: replaced === next && !(next === null && waitsFirst), inMs: everyMs };
  }

  /** Lets a run that is under way end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }
}
