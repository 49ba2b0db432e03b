import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { type Due, dueKey } from '../redis/due.ts';
import type { Listening, Wake } from '../redis/wake.ts';
import { JobQueue } from './job-queue.ts';
import { newsOf } from './throttled-log.ts';

/** A moment that nobody told of is noticed after this long. */
const lookMs = 1_000;
/** Sweeps of a process are no closer: each takes what has become due meanwhile, and a job costs 5 KB of log. */
const paceMs = 250;
/** What the queue has not begun after this long is done without it. */
const lateMs = 500;
/** Sweeps at once, of one process: one that waits for a shard does not hold up the next. */
const concurrency = 2;

interface SweeperParts {
  readonly store: Store;
  readonly due: Due;
  readonly wake: Wake;
  readonly log: Logger;
}

/**
 * Makes due timers real without anybody asking. It looks at the earliest moment of the index once a second, when that
 * moment comes, and when it hears of an earlier one; what is due becomes a job, one for the whole fleet. The job may be
 * lost at any time: the next look finds the same work. Correctness never depends on it (design, principle 4).
 */
export class Sweeper {
  readonly #due: Due;
  readonly #log: Logger;
  readonly #jobs: JobQueue<null>;
  readonly #listening: Listening;
  /** All moments are those of `performance.now()`. */
  #nextAt = Number.POSITIVE_INFINITY;
  #notBefore = 0;
  /** What the store's clock is ahead of it, as of the last look. */
  #aheadMs = Number.NaN;
  /** What the queue was asked to begin with, and since when that is due. */
  #head = { id: '', since: 0 };
  /** The index was away: what it was to be told meanwhile, it does not know. */
  #isBlind = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;

  /** `connection`: waits for the store. */
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
    this.#listening = wake.listen(dueKey, (moment) => this.#hear(moment));
    this.#wakeAt(0);
  }

  #hear(moment: string): void {
    const at = moment === '' ? 0 : Number(moment) - this.#aheadMs;
    // Until the first look is done nothing is known of the store's clock.
    this.#wakeAt(Number.isNaN(at) ? 0 : at);
  }

  #wakeAt(at: number): void {
    if (this.#stopped || at >= this.#nextAt) return;
    this.#nextAt = at;
    if (this.#looking) return;
    clearTimeout(this.#timer);
    const inMs = Math.max(at, this.#notBefore) - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#look();
      },
      Math.max(0, Math.ceil(inMs)),
    );
  }

  async #look(): Promise<void> {
    this.#nextAt = Number.POSITIVE_INFINITY;
    const inMs = await this.#find().catch((error: Error) => {
      const news = newsOf(this.#log, error);
      if (news !== '') this.#log.error({ error: news }, 'due timers cannot be looked for');
      return lookMs;
    });
    // What was heard meanwhile may be earlier.
    const next = Math.min(this.#nextAt, performance.now() + inMs);
    this.#nextAt = Number.POSITIVE_INFINITY;
    this.#looking = undefined;
    this.#wakeAt(next);
  }

  /** Has done what is due; resolves with when to look again. */
  async #find(): Promise<number> {
    const found = this.#isBlind ? undefined : await this.#due.earliest().catch(() => undefined);
    if (!found) {
      this.#isBlind = true;
      this.#isBlind = !(await this.#due.takeDue());
      return this.#isBlind ? paceMs : lookMs;
    }
    const { now, member, at } = found;
    this.#aheadMs = now - performance.now();
    if (member === undefined) return lookMs;
    if (at > now) return Math.min(at - now, lookMs);
    this.#notBefore = performance.now() + paceMs;
    const id = `${member}_${at}`;
    if (id !== this.#head.id) this.#head = { id, since: performance.now() };
    const isLate = performance.now() - this.#head.since > lateMs;
    if (isLate || !(await this.#jobs.add([{ id, data: null }]))) await this.#due.takeDue();
    return paceMs;
  }

  /** Lets a sweep that is under way end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#listening.stop();
    await Promise.all([this.#looking, this.#jobs.close()]);
  }
}
