import { type ConnectionOptions, Queue, Worker, type WorkerOptions } from 'bullmq';
import type { Logger } from 'pino';
import { canFailPartially, type Store } from '../redis/cluster.ts';
import { within } from '../redis/failures.ts';
import { type QueueName, queuePrefix } from './keys.ts';
import { nowAndThen } from './throttled-log.ts';

/** A queue that is silent for this long is done without. */
const answerMs = 500;

/** Until a worker whose store refused it asks again. */
const refusedMs = 1_000;

/**
 * BullMQ asks for the next job again at once when the store refuses that (it is full, read-only, its disk is full):
 * thousands of times a second, each with a line in the log.
 */
class SteadyWorker<Data = unknown> extends Worker<Data> {
  protected override async moveToActive(token: string, name?: string): ReturnType<Worker<Data>['moveToActive']> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await this.delay(refusedMs);
      throw error;
    }
  }
}

interface Connections {
  /** Fails at once while the store is away. */
  readonly store: Store;
  /** Waits for the store: of several queues. */
  readonly connection: Store;
}

/** Work for any process of the fleet, and this one's part in doing it. */
export class JobQueue<Data> {
  readonly #store: Store;
  readonly #queue: Queue;
  readonly #worker: SteadyWorker<Data>;

  constructor(
    { store, connection }: Connections,
    name: QueueName,
    work: (data: Data) => Promise<void>,
    options: Omit<WorkerOptions, 'connection'>,
    log: Logger,
  ) {
    this.#store = store;
    const shared = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    this.#queue = new Queue(name, shared);
    this.#worker = new SteadyWorker<Data>(name, ({ data }) => work(data), {
      ...shared,
      // Each job asks the store first whether there is anything to do: it may be taken up any number of times.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      // A job that is kept would keep out the next one of its id.
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      ...options,
    });
    this.#queue.on('error', nowAndThen(log, `${name} queue`));
    this.#worker.on('error', nowAndThen(log, `${name} worker`));
    this.#worker.on('failed', (_, error) => nowAndThen(log, `${name} job failed`)(error));
  }

  /**
   * Adds jobs, each once while one of its id is there. Resolves with whether the queue has them: where only its shard is
   * away, the caller does the work. What the queue takes late all the same must be harmless to do again.
   */
  async add(jobs: readonly { readonly id: string; readonly data: Data }[]): Promise<boolean> {
    const bulk = jobs.map(({ id, data }) => ({ name: this.#queue.name, data, opts: { jobId: id } }));
    const queued = (): Promise<unknown> => this.#queue.addBulk(bulk);
    if (canFailPartially(this.#store)) return (await answers(this.#store.exists(queuePrefix))) && answers(queued());
    await queued();
    return true;
  }

  /** Lets the running jobs end. */
  async close(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}

/** Whether the queue's shard does in time: it would be waited for. */
function answers(reply: Promise<unknown>): Promise<boolean> {
  return within(
    answerMs,
    reply.then(() => true),
  ).catch(() => false);
}
