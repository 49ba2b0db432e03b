import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { queueNames, queuePrefix } from './queues.ts';
import type { Retention } from './retention.ts';

const everyMs = 60_000;

/** Drives retention: a BullMQ job every minute, in one process at a time. What it missed, the next one does. */
export class Retainer {
  readonly #queue: Queue;
  readonly #worker: Worker;

  private constructor(queue: Queue, worker: Worker) {
    this.#queue = queue;
    this.#worker = worker;
  }

  static async start(connection: Store, retention: Retention, log: Logger): Promise<Retainer> {
    const options = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    const queue = new Queue(queueNames.retain, options);
    const worker = new Worker(queueNames.retain, () => retention.retainAll(), {
      ...options,
      concurrency: 1,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 100 },
    });
    queue.on('error', (error) => log.warn({ error: error.message }, 'retention queue'));
    worker.on('error', (error) => log.warn({ error: error.message }, 'retention worker'));
    worker.on('failed', (_job, error) => log.error({ error: error.message }, 'retention failed'));
    await queue.upsertJobScheduler('retain', { every: everyMs }, { name: 'retain' });
    return new Retainer(queue, worker);
  }

  /** Lets the running job end. */
  async stop(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}
