import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import type { Due } from '../redis/due.ts';
import { queueNames, queuePrefix } from './queues.ts';

/** Four sweeps a second leave most of the second that the contract gives a due moment to the work itself. */
const sweepEveryMs = 250;
const repairEveryMs = 30_000;

/**
 * Makes due timers real without anybody looking: a BullMQ job every quarter of a second takes the organizations that are due,
 * another walks over all of them now and then. Correctness never depends on it (design, principle 4).
 */
export class Sweeper {
  readonly #queue: Queue;
  readonly #worker: Worker;

  private constructor(queue: Queue, worker: Worker) {
    this.#queue = queue;
    this.#worker = worker;
  }

  static async start(connection: Store, due: Due, log: Logger): Promise<Sweeper> {
    const options = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    const queue = new Queue(queueNames.sweep, options);
    const worker = new Worker(
      queueNames.sweep,
      async (job) => {
        if (job.name === 'repair') await due.repair();
        else await due.takeDue();
      },
      // A repair must not hold up the sweeps.
      { ...options, concurrency: 2, removeOnComplete: { count: 0 }, removeOnFail: { count: 100 } },
    );
    queue.on('error', (error) => log.warn({ error: error.message }, 'sweep queue'));
    worker.on('error', (error) => log.warn({ error: error.message }, 'sweep worker'));
    worker.on('failed', (job, error) => log.error({ job: job?.name, error: error.message }, 'sweep failed'));
    await queue.upsertJobScheduler('sweep', { every: sweepEveryMs }, { name: 'sweep' });
    await queue.upsertJobScheduler('repair', { every: repairEveryMs }, { name: 'repair' });
    return new Sweeper(queue, worker);
  }

  /** Lets the running job end. */
  async stop(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}
