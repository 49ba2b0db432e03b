import type { Logger } from 'pino';
import type { Store } from '../../engine/redis/connection.ts';
import { type Due, dueKey } from '../../engine/redis/due.ts';
import type { Listening, Wake } from '../../engine/redis/wake.ts';
import { JobQueue } from './job-queue.ts';
import { textUnlessRepeated } from './throttled-log.ts';

/** Finds timers whose notification was lost. */
const pollMs = 1_000;
/** Minimum time between sweeps. Each handles all due timers, and a job costs 5 KB of the store's log. */
const minIntervalMs = 250;
/** If the queue has not started the job after this time, sweep without it. */
const queueTimeoutMs = 500;
/** Concurrent sweeps per process: one waiting for a shard must not delay the next. */
const concurrency = 2;

interface SweeperParts {
  readonly store: Store;
  readonly due: Due;
  readonly wake: Wake;
  readonly log: Logger;
}

/**
 * Fires due timers. It checks the index's earliest due time once a second, when that time comes, and when an earlier one is
 * announced. Due work becomes one job for all processes. Correctness does not depend on the job: if it is lost, the next
 * check finds the same work.
 */
export class Sweeper {
  readonly #due: Due;
  readonly #log: Logger;
  readonly #jobs: JobQueue<null>;
  readonly #listening: Listening;
  /** Times here are in `performance.now()` time. */
  #nextAt = Number.POSITIVE_INFINITY;
  #notBefore = 0;
  /** The store's clock minus ours, as of the last check. */
  #clockOffsetMs = Number.NaN;
  /** The last job added to the queue, and since when it has been due. */
  #head = { id: '', since: 0 };
  /** The index was unavailable, so announcements may be missing in it. */
  #isIndexStale = false;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  #stopped = false;

  /** connection: one that waits for the store. */
  constructor(connection: Store, { store, due, wake, log }: SweeperParts) {
    this.#due = due;
    this.#log = log;
    this.#jobs = new JobQueue(
      { store, connection },
      'sweep',
      async () => void (await due.takeDue()),
      { concurrency },
      log,
    );
    this.#listening = wake.listen(dueKey, (at) => this.#onAnnouncement(at));
    this.#wakeAt(0);
  }

  #onAnnouncement(dueAt: string): void {
    const at = dueAt === '' ? 0 : Number(dueAt) - this.#clockOffsetMs;
    // The store's clock is unknown before the first check.
    this.#wakeAt(Number.isNaN(at) ? 0 : at);
  }

  #wakeAt(at: number): void {
    if (this.#stopped || at >= this.#nextAt) return;
    this.#nextAt = at;
    if (this.#checking) return;
    clearTimeout(this.#timer);
    const inMs = Math.max(at, this.#notBefore) - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#checking = this.#check();
      },
      Math.max(0, Math.ceil(inMs)),
    );
  }

  async #check(): Promise<void> {
    this.#nextAt = Number.POSITIVE_INFINITY;
    const inMs = await this.#sweep().catch((error: Error) => {
      const text = textUnlessRepeated(this.#log, error);
      if (text !== '') this.#log.error({ error: text }, 'cannot check for due timers');
      return pollMs;
    });
    // An earlier time may have been announced meanwhile.
    const next = Math.min(this.#nextAt, performance.now() + inMs);
    this.#nextAt = Number.POSITIVE_INFINITY;
    this.#checking = undefined;
    this.#wakeAt(next);
  }

  /** Has due work done. Resolves with the delay until the next check. */
  async #sweep(): Promise<number> {
    const found = this.#isIndexStale ? undefined : await this.#due.earliest().catch(() => undefined);
    if (!found) {
      this.#isIndexStale = true;
      this.#isIndexStale = !(await this.#due.takeDue());
      return this.#isIndexStale ? minIntervalMs : pollMs;
    }
    const { now, member, at } = found;
    this.#clockOffsetMs = now - performance.now();
    if (member === undefined) return pollMs;
    if (at > now) return Math.min(at - now, pollMs);
    this.#notBefore = performance.now() + minIntervalMs;
    const id = `${member}_${at}`;
    if (id !== this.#head.id) this.#head = { id, since: performance.now() };
    const isLate = performance.now() - this.#head.since > queueTimeoutMs;
    if (isLate || !(await this.#jobs.add([{ id, data: null }]))) await this.#due.takeDue();
    return minIntervalMs;
  }

  /** Waits for a sweep in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#listening.stop();
    await Promise.all([this.#checking, this.#jobs.close()]);
  }
}
