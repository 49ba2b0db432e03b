import type { Logger } from 'pino';
import type { Store } from '../redis/connection.ts';
import { type CreateOptions, createSnapshot } from '../snapshot/create.ts';
import { SnapshotFailure } from '../snapshot/failure.ts';
import type { Job } from './periodic.ts';

export interface SnapshotterOptions extends Omit<CreateOptions, 'signal'> {
  readonly intervalSeconds: number;
}

/** Makes a snapshot every so often. Where the store does not allow it, says so once and goes on. */
export function snapshotJob(store: Store, options: SnapshotterOptions, log: Logger): Job {
  let isTold = false;
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const { snapshot, bytes } = await createSnapshot(store, { ...options, signal });
      log.info({ snapshot, bytes }, 'snapshot made');
    } catch (error) {
      if (signal.aborted) return;
      const isRefused = error instanceof SnapshotFailure && error.code === 'SNAPSHOTS_UNAVAILABLE';
      if (!isRefused) throw error;
      if (!isTold) log.warn(error.message);
      isTold = true;
    }
  };
  return { everyMs: options.intervalSeconds * 1000, waitsFirst: true, run };
}
