import { type ConnectionOptions, Queue } from 'bullmq';
import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { type CreateOptions, createSnapshot } from '../snapshot/create.ts';
import { SnapshotFailure } from '../snapshot/failure.ts';
import { queueNames, queuePrefix } from './queues.ts';
import { nowAndThen, SteadyWorker } from './steady-worker.ts';

/** Until a schedule that the store did not take is put there again. */
const refusedMs = 10_000;

export interface SnapshotterOptions extends Omit<CreateOptions, 'signal'> {
  readonly intervalSeconds: number;
}

/**
 * Makes a snapshot every so often, by a BullMQ job: one for the whole fleet of workers. Where the store does not allow
 * it, says so once and goes on.
 */
export class Snapshotter {
  readonly #queue: Queue;
  readonly #worker: SteadyWorker;
  readonly #log: Logger;
  #again: NodeJS.Timeout | undefined;
  readonly #stopping = new AbortController();

  private constructor(connection: Store, store: Store, options: SnapshotterOptions, log: Logger) {
    const shared = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    let isTold = false;
    this.#log = log;
    this.#queue = new Queue(queueNames.snapshot, shared);
    this.#worker = new SteadyWorker(
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
    const warn = (what: string) => nowAndThen((error) => log.warn({ error: error.message }, what));
    this.#queue.on('error', warn('snapshot queue'));
    this.#worker.on('error', warn('snapshot worker'));
    this.#worker.on('failed', (_job, error) => log.error({ error: error.message }, 'snapshot failed'));
  }

  /** Resolves when the schedule stands in the store, or cannot be put there now. */
  static async start(connection: Store, store: Store, options: SnapshotterOptions, log: Logger): Promise<Snapshotter> {
    const snapshotter = new Snapshotter(connection, store, options, log);
    await snapshotter.#schedule(options.intervalSeconds * 1000);
    return snapshotter;
  }

  async #schedule(every: number): Promise<void> {
    // A restart does not put it off: the schedule stays in the store.
    const schedule = { every, startDate: Date.now() + every };
    await this.#queue.upsertJobScheduler('snapshot', schedule, { name: 'snapshot' }).catch((error: Error) => {
      if (this.#stopping.signal.aborted) return;
      this.#log.warn({ error: error.message }, 'snapshots cannot be scheduled');
      this.#again = setTimeout(() => void this.#schedule(every), refusedMs);
    });
  }

  /** Gives up a snapshot in the making. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#again);
    await this.#worker.close();
    await this.#queue.close();
  }
}
