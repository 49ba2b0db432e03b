import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { type CreateOptions, createSnapshot } from '../snapshot/create.ts';
import { SnapshotFailure } from '../snapshot/failure.ts';
import { queueNames, queuePrefix } from './queues.ts';

export interface SnapshotterOptions extends Omit<CreateOptions, 'signal'> {
  readonly intervalSeconds: number;
}

/**
 * Makes a snapshot every so often, by a BullMQ job: one for the whole fleet of workers. Where the store does not allow
 * it, says so once and goes on.
 */
export class Snapshotter {
  readonly #queue: Queue;
  readonly #worker: Worker;
  readonly #stopping = new AbortController();

  private constructor(connection: Store, store: Store, options: SnapshotterOptions, log: Logger) {
    const shared = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    let isTold = false;
    this.#queue = new Queue(queueNames.snapshot, shared);
    this.#worker = new Worker(
      queueNames.snapshot,
      async () => {
        try {
          const { snapshot, bytes } = await createSnapshot(store, { ...options, signal: this.#stopping.signal });
          log.info({ snapshot, bytes }, 'snapshot made');
        } catch (error) {
          if (this.#stopping.signal.aborted) return;
          const isRefused = error instanceof SnapshotFailure && error.code === 'SNAPSHOTS_UNAVAILABLE';
          if (!isRefused) throw error;
          if (!isTold) log.warn(error.message);
          isTold = true;
        }
      },
      { ...shared, removeOnComplete: { count: 0 }, removeOnFail: { count: 100 } },
    );
    this.#queue.on('error', (error) => log.warn({ error: error.message }, 'snapshot queue'));
    this.#worker.on('error', (error) => log.warn({ error: error.message }, 'snapshot worker'));
    this.#worker.on('failed', (_job, error) => log.error({ error: error.message }, 'snapshot failed'));
  }

  static async start(connection: Store, store: Store, options: SnapshotterOptions, log: Logger): Promise<Snapshotter> {
    const snapshotter = new Snapshotter(connection, store, options, log);
    const every = options.intervalSeconds * 1000;
    // A restart does not put it off: the schedule stays in the store.
    const schedule = { every, startDate: Date.now() + every };
    await snapshotter.#queue.upsertJobScheduler('snapshot', schedule, { name: 'snapshot' });
    return snapshotter;
  }

  /** Gives up a snapshot in the making. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#worker.close();
    await this.#queue.close();
  }
}
