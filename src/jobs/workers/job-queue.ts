import { type ConnectionOptions, Queue, Worker, type WorkerOptions } from 'bullmq';
import type { Logger } from 'pino';
import { canFailPartially, type Store } from '../../engine/redis/cluster.ts';
import { within } from '../../engine/redis/failures.ts';
import { type QueueName, queuePrefix } from '../../primitives/timer/keys.ts';
import { throttledWarning } from './throttled-log.ts';

/** Do without the queue if it does not answer within this time. */
const timeoutMs = 500;

/** How long a worker waits after the store has refused it a job. */
const retryMs = 1_000;

/**
 * Waits before a retry. When the store refuses to hand out jobs (out of memory, read-only, disk full), BullMQ retries at
 * once, thousands of times a second with a log line each.
 */
class SteadyWorker<Data = unknown> extends Worker<Data> {
  protected override async moveToActive(token: string, name?: string): ReturnType<Worker<Data>['moveToActive']> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await this.delay(retryMs);
      throw error;
    }
  }
}

interface Connections {
  /** Fails at once while the store is unavailable. */
  readonly store: Store;
  /** Waits for the store. Several queues share it. */
  readonly connection: Store;
}

/** A queue of work for all processes, with this process's worker. */
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
      // A job first asks the store whether there is anything to do, so it may be retried any number of times.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      // A finished job that is kept would block the next one with the same id.
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      ...options,
    });
    this.#queue.on('error', throttledWarning(log, `${name} queue`));
    this.#worker.on('error', throttledWarning(log, `${name} worker`));
    this.#worker.on('failed', (_, error) => throttledWarning(log, `${name} job failed`)(error));
  }

  /**
   * Adds jobs unless one with the same id is queued. Resolves with whether the queue has them. If only its shard is down, the
   * caller does the work; the queue may still accept the jobs late, so repeating the work must be harmless.
   */
  async add(jobs: readonly { readonly id: string; readonly data: Data }[]): Promise<boolean> {
    const bulk = jobs.map(({ id, data }) => ({ name: this.#queue.name, data, opts: { jobId: id } }));
    const queued = (): Promise<unknown> => this.#queue.addBulk(bulk);
    if (canFailPartially(this.#store))
      return (await repliesInTime(this.#store.exists(queuePrefix))) && repliesInTime(queued());
    await queued();
    return true;
  }

  /** Waits for running jobs. */
  async close(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}

/** Whether the queue's shard replies in time. Its connection waits for the store. */
function repliesInTime(reply: Promise<unknown>): Promise<boolean> {
  return within(
    timeoutMs,
    reply.then(() => true),
  ).catch(() => false);
}
