import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Store, takesSnapshots } from '../../engine/redis/cluster.ts';
import type { Due } from '../../engine/redis/due.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import type { Wake } from '../../engine/redis/wake.ts';
import type { Journal } from '../../primitives/event/journal.ts';
import { repairJob } from '../../primitives/timer/keys.ts';
import type { Targets } from '../../primitives/webhook/target.ts';
import { type CreateOptions, createSnapshot } from '../snapshot/create.ts';
import { SnapshotFailure } from '../snapshot/failure.ts';
import type { SnapshotWatch } from '../snapshot/health.ts';
import { ClaimAges, claimAgesJob } from './claim-ages.ts';
import { Deliverer } from './deliverer.ts';
import { LateDestinations, lateDestinationsJob } from './late-destinations.ts';
import { type Packing, packJob } from './packing.ts';
import { type Job, Periodic } from './periodic.ts';
import { type Retention, retainJob } from './retention.ts';
import { Sweeper } from './sweeper.ts';

/** How long workers may take to finish or return their work. An unavailable store would keep them waiting. */
const stopMs = 4_500;
/** How often to repair the indexes: a crash between a script and its update of an index loses the entry. */
const repairEveryMs = 30_000;

/** A new store should not be without a snapshot for a whole interval. */
const firstSnapshotMs = 60_000;

interface WorkersParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly retention: Retention;
  readonly journal: Journal;
  readonly packing: Packing;
  readonly wake: Wake;
  readonly targets: Targets;
  readonly log: Logger;
}

export class Workers {
  deliverer: Deliverer | undefined;
  readonly #started: { stop(): Promise<void> }[] = [];

  /** open: opens a connection that waits for the store. */
  async start(
    parts: WorkersParts,
    open: () => Promise<Store>,
    snapshots: SnapshotterOptions | undefined,
    watch: SnapshotWatch | undefined,
  ): Promise<void> {
    const { store, scripts, due, retention, packing, log } = parts;
    const connection = await open();
    const deliverer = new Deliverer(connection, parts);
    this.deliverer = deliverer;
    const rounds: Record<string, Job> = {
      [repairJob]: { everyMs: repairEveryMs, run: () => due.repair() },
      outbox: { everyMs: repairEveryMs, run: () => deliverer.repair() },
      retain: retainJob(retention),
      claims: claimAgesJob(new ClaimAges(store, scripts)),
      late: lateDestinationsJob(new LateDestinations(store, scripts)),
    };
    if (packing.isOn) rounds['pack'] = packJob(packing);
    if (snapshots && takesSnapshots(store)) rounds['snapshot'] = snapshotJob(store, snapshots, log, watch);
    this.#started.push(new Sweeper(connection, parts), deliverer);
    for (const [name, job] of Object.entries(rounds)) this.#started.push(new Periodic(store, name, job, log));
  }

  async stop(): Promise<void> {
    const stopped = Promise.allSettled(this.#started.map((worker) => worker.stop()));
    await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })]);
  }
}

export interface SnapshotterOptions extends Omit<CreateOptions, 'signal'> {
  readonly intervalSeconds: number;
}

/** Makes a snapshot soon after the first start, and at every interval. If the store does not allow it, logs that once. */
export function snapshotJob(
  store: Store,
  options: SnapshotterOptions,
  log: Logger,
  watch?: SnapshotWatch | undefined,
): Job {
  let isReported = false;
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const { snapshot, bytes } = await createSnapshot(store, { ...options, signal });
      log.info({ snapshot, bytes }, 'snapshot made');
      watch?.note(false);
    } catch (error) {
      if (signal.aborted) return;
      watch?.note(true);
      const isRefused = error instanceof SnapshotFailure && error.code === 'SNAPSHOTS_UNAVAILABLE';
      if (!isRefused) throw error;
      if (!isReported) log.warn(error.message);
      isReported = true;
    }
  };
  const everyMs = options.intervalSeconds * 1000;
  return { everyMs, firstAfterMs: Math.min(firstSnapshotMs, everyMs), run };
}
