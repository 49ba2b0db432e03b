import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Store, takesSnapshots } from '../redis/cluster.ts';
import type { Due } from '../redis/due.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import type { Targets } from '../webhook/target.ts';
import { Deliverer } from './deliverer.ts';
import { type Jobs, Periodic } from './periodic.ts';
import type { QueueName } from './queues.ts';
import { type Retention, retainJobs } from './retention.ts';
import { type SnapshotterOptions, snapshotJobs } from './snapshotter.ts';
import { sweepJobs } from './sweeper.ts';

/** For workers to end what they hold or give it back; a store that is away would keep them waiting. */
const stopMs = 4_500;

interface WorkersParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly retention: Retention;
  readonly wake: Wake;
  readonly targets: Targets;
  readonly log: Logger;
}

/** All that a process does for organizations without being asked. */
export class Workers {
  deliverer: Deliverer | undefined;
  readonly #started: { stop(): Promise<void> }[] = [];

  /** `open`: a connection that waits for the store, for each of them. */
  async start(
    parts: WorkersParts,
    open: () => Promise<Store>,
    snapshots: SnapshotterOptions | undefined,
  ): Promise<void> {
    const { store, due, retention, log } = parts;
    const periodic: [QueueName, Jobs][] = [
      ['sweep', sweepJobs(due)],
      ['retain', retainJobs(retention)],
    ];
    if (snapshots && takesSnapshots(store)) periodic.push(['snapshot', snapshotJobs(store, snapshots, log)]);
    for (const [name, jobs] of periodic) this.#started.push(await Periodic.start(store, await open(), name, jobs, log));
    this.deliverer = new Deliverer(await open(), parts);
    this.#started.push(this.deliverer);
  }

  async stop(): Promise<void> {
    const stopped = Promise.allSettled(this.#started.map((worker) => worker.stop()));
    await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })]);
  }
}
