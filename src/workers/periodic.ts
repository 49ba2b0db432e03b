import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { type queueNames, queuePrefix } from './queues.ts';

/** What a periodic worker does, by the name of the job. */
export type Jobs = Readonly<Record<string, { readonly everyMs: number; readonly run: () => Promise<unknown> }>>;

/** Jobs that come round by themselves, each in one process of the fleet at a time; one does not hold up another. */
export class Periodic {
  readonly #queue: Queue;
  readonly #worker: Worker;

  private constructor(queue: Queue, worker: Worker) {
    this.#queue = queue;
    this.#worker = worker;
  }

  /** Resolves when the schedules stand in the store. */
  static async start(connection: Store, name: keyof typeof queueNames, jobs: Jobs, log: Logger): Promise<Periodic> {
    const options = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    const queue = new Queue(name, options);
    const worker = new Worker(name, async (job) => void (await jobs[job.name]?.run()), {
      ...options,
      concurrency: Object.keys(jobs).length,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 100 },
    });
    queue.on('error', (error) => log.warn({ error: error.message }, `${name} queue`));
    worker.on('error', (error) => log.warn({ error: error.message }, `${name} worker`));
    worker.on('failed', (job, error) => log.error({ job: job?.name, error: error.message }, `${name} failed`));
    for (const [job, { everyMs }] of Object.entries(jobs))
      await queue.upsertJobScheduler(job, { every: everyMs }, { name: job });
    return new Periodic(queue, worker);
  }

  /** Lets the running jobs end. */
  async stop(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}
