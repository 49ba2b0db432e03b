import { type ConnectionOptions, Queue } from 'bullmq';
import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { within } from '../redis/failures.ts';
import { type QueueName, queuePrefix } from './queues.ts';
import { newsOf, nowAndThen, SteadyWorker } from './steady-worker.ts';

/** A queue that is silent for this long, or twice as long behind its schedule, is done without. */
const lateMs = 500;
/** A schedule that lies further ahead is of a clock that was set back since; those of machines differ by less. */
const aheadMs = 5_000;
/** A start waits no longer for a queue that hangs: what it was sent stands there when it goes on. */
const scheduleMs = 2_000;

/** Doing it twice at once must be harmless. */
interface Job {
  readonly everyMs: number;
  /** Scheduled for the first time, it waits as long as between two runs; else it runs at once. */
  readonly waitsFirst?: true;
  /** `stopping` aborts at shutdown. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
}

/** What a periodic worker does, by the name of the job. */
export type Jobs = Readonly<Record<string, Job>>;

/**
 * Jobs that come round by themselves, each in one process of the fleet at a time; one does not hold up another. Where
 * the queue is silent (it lies on one shard of a cluster, and its keys may be deleted), every process does them by
 * itself until it is back.
 */
export class Periodic {
  readonly #store: Store;
  readonly #jobs: Jobs;
  readonly #log: Logger;
  readonly #queue: Queue;
  readonly #worker: SteadyWorker;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #stopping = new AbortController();

  private constructor(store: Store, connection: Store, name: QueueName, jobs: Jobs, log: Logger) {
    this.#store = store;
    this.#jobs = jobs;
    this.#log = log;
    const options = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    this.#queue = new Queue(name, options);
    this.#worker = new SteadyWorker(name, async (job) => void (await jobs[job.name]?.run(this.#stopping.signal)), {
      ...options,
      concurrency: Object.keys(jobs).length,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 100 },
    });
    this.#queue.on('error', nowAndThen(log, `${name} queue`));
    this.#worker.on('error', nowAndThen(log, `${name} worker`));
    this.#worker.on('failed', (job, error) => this.#complain(job?.name ?? name, error));
  }

  /** Resolves when the schedules stand in the store, or cannot be put there now. `store` fails at once, `connection` waits. */
  static async start(store: Store, connection: Store, name: QueueName, jobs: Jobs, log: Logger): Promise<Periodic> {
    const periodic = new Periodic(store, connection, name, jobs, log);
    for (const job of Object.keys(jobs)) await periodic.#schedule(job);
    for (const [job, { everyMs }] of Object.entries(jobs))
      periodic.#timers.push(setInterval(() => void periodic.#look(job), everyMs));
    return periodic;
  }

  async #schedule(job: string, isAnew = false): Promise<void> {
    const { everyMs: every = 0, waitsFirst } = this.#jobs[job] ?? {};
    // A restart does not put it off: what is scheduled already stays in the store.
    const schedule = { every, ...(waitsFirst && { startDate: Date.now() + every }) };
    const scheduled = async () => {
      if (isAnew) await this.#queue.removeJobScheduler(job);
      await this.#queue.upsertJobScheduler(job, schedule, { name: job });
    };
    await within(scheduleMs, scheduled()).catch((error: Error) =>
      this.#complain(job, error, 'periodic job cannot be scheduled'),
    );
  }

  /** Does the job where the queue should have had it done, but has not. */
  async #look(job: string): Promise<void> {
    const { everyMs = 0, run } = this.#jobs[job] ?? {};
    const key = `${queuePrefix}:${this.#queue.name}:repeat`;
    const next = await within(lateMs, this.#store.zscore(key, job)).catch(() => undefined);
    const dueInMs = Number(next) - Date.now();
    const isAhead = dueInMs > everyMs + aheadMs;
    if (next && dueInMs > -Math.max(2 * lateMs, everyMs) && !isAhead) return;
    const { signal } = this.#stopping;
    if (!run || this.#running.has(job) || signal.aborted) return;
    const work = run(signal).catch((error: Error) => this.#complain(job, error));
    const both = Promise.all([work, next === undefined ? undefined : this.#schedule(job, isAhead)]);
    this.#running.set(job, both);
    await both;
    this.#running.delete(job);
  }

  /** Of what fails again and again (a shard that is away), one line now and then. */
  #complain(job: string, error: Error, what = 'periodic job failed'): void {
    const news = newsOf(this.#log, error);
    if (news !== '') this.#log.error({ job, error: news }, what);
  }

  /** Lets the running jobs end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([...this.#running.values(), this.#worker.close()]);
    await this.#queue.close();
  }
}
